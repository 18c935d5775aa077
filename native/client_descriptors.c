#include "client_descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client_messages.h"
#include "client_values.h"

enum { LISTEN_FDS_START = 3 /* sd_listen_fds(3) */ };

bool descriptor_is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static int add(struct descriptors *set, uint32_t number) {
  for (size_t i = 0; i < set->count; i++)
    if (set->numbers[i] == number) return OPTIONS_GO_ON;
  if (set->count == WIRE_MAX_FDS) {
    say("the kernel passes no more than that in one message", "cannot pass descriptor %u: a command takes at most %d of them", number, WIRE_MAX_FDS);
    return EXIT_OURS;
  }
  set->held[set->count] = (int)number;
  set->numbers[set->count++] = number;
  return OPTIONS_GO_ON;
}

void descriptors_replace(struct descriptors *set, uint32_t number, int fd) {
  size_t i = 0;
  while (i < set->count && set->numbers[i] != number) i++;
  if (i == WIRE_MAX_FDS) return;
  if (i == set->count) set->count++;
  set->numbers[i] = number;
  set->held[i] = fd;
}

void descriptors_release(const struct descriptors *set, int filler, bool keep_input, bool keep_output) {
  for (size_t i = 0; i < set->count; i++) {
    uint32_t number = set->numbers[i];
    if (number > 2) close((int)number);
    else if ((number == 0 && !keep_input) || (number == 1 && !keep_output)) dup2(filler, (int)number);
  }
}

/* One poll(2) tells which of the three are open; only O_PATH descriptors look closed to it and need a second question. */
static void look_at_standard(struct descriptors *out) {
  struct pollfd standard[3] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
  bool polled = poll(standard, 3, 0) >= 0;
  for (int fd = 0; fd < 3; fd++) {
    out->open[fd] = (polled && (standard[fd].revents & POLLNVAL) == 0) || descriptor_is_open(fd);
    out->terminal[fd] = out->open[fd] && isatty(fd) == 1;
  }
}

/* LISTEN_FDS by name takes the sockets along. LISTEN_PID must name the target, whose pid nobody knows before the fork: it is for
 * the command to set (`sh -c 'LISTEN_PID=$$ exec …'`). */
static int add_listening(const struct options *options, struct descriptors *out) {
  const char *count_text = getenv("LISTEN_FDS");
  bool asked = false;
  uint64_t count;
  for (size_t i = 0; i < options->env_count; i++) asked = asked || (options->env[i].kind == ENV_PASS && strcmp(options->env[i].text, "LISTEN_FDS") == 0);
  if (!asked || count_text == NULL || !parse_number(count_text, INT32_MAX / 2, &count)) return OPTIONS_GO_ON;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = LISTEN_FDS_START + i;
    if (!descriptor_is_open((int)number)) {
      say("LISTEN_FDS must count the open descriptors from 3 on", "cannot pass descriptor %u of LISTEN_FDS: it is not open", number);
      return EXIT_OURS;
    }
    int status = add(out, number);
    if (status != OPTIONS_GO_ON) return status;
  }
  return OPTIONS_GO_ON;
}

static int add_asked(const struct options *options, struct descriptors *out) {
  for (size_t i = 0; i < options->fd_count; i++) {
    uint32_t number = options->fds[i];
    if (number < 3) continue; /* they are passed anyway, open or closed as they are */
    if (!descriptor_is_open((int)number)) {
      say("open it in the shell that calls, as in '5>file'", "cannot pass descriptor %u: it is not open", number);
      return EXIT_OURS;
    }
    int status = add(out, number);
    if (status != OPTIONS_GO_ON) return status;
  }
  return OPTIONS_GO_ON;
}

int descriptors_collect(const struct options *options, const struct jobserver *jobserver, struct descriptors *out) {
  int status;

  out->count = 0;
  look_at_standard(out);
  for (uint32_t fd = 0; fd < 3 && !options->detach; fd++)
    if (out->open[fd]) add(out, fd);
  if ((status = add_asked(options, out)) != OPTIONS_GO_ON || (status = add_listening(options, out)) != OPTIONS_GO_ON) return status;
  if (jobserver->read_fd >= 0 && (status = add(out, (uint32_t)jobserver->read_fd)) != OPTIONS_GO_ON) return status;
  if (jobserver->write_fd >= 0 && (status = add(out, (uint32_t)jobserver->write_fd)) != OPTIONS_GO_ON) return status;
  for (int fd = 0; fd < 3; fd++)
    if (!out->open[fd] && open("/", O_PATH | O_CLOEXEC) < 0) return EXIT_OURS; /* takes the lowest number: this one */
  return OPTIONS_GO_ON;
}
