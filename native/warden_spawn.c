/* The agent's side of the warden: starts it with everything that the target is to have, and takes its first report. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "fd.h"
#include "warden.h"

static int fail(struct spawn_result *result, enum wire_step step, int error) {
  *result = (struct spawn_result){.pid = -1, .pidfd = -1, .step = (uint8_t)step, .error = error};
  return -1;
}

/* The number that the control socket gets in the warden: the lowest that the target is not to have. */
static uint32_t control_number(const struct spawn_request *request) {
  uint32_t number = 3;
  for (size_t i = 0; i < request->fd_count; i++) {
    if (request->numbers[i] != number) continue;
    number++;
    i = SIZE_MAX; /* looks at all of them again */
  }
  return number;
}

/* For read_limits() of the warden. They are the target's alone: under a low one the warden could not so much as start. */
static void write_limits(const struct spawn_request *request, char *into, size_t room) {
  size_t length = 0;
  into[0] = '\0';
  for (size_t i = 0; i < request->limit_count && length < room; i++) {
    const struct spawn_limit *limit = &request->limits[i];
    length += (size_t)snprintf(into + length, room - length, "%d %" PRIu64 " %" PRIu64 " ", limit->resource, limit->soft, limit->hard);
  }
}

/* The first report: what became of the exec. Blocking is right here, as it is in vfork. */
static int first_report(int control, struct spawn_result *result) {
  struct warden_report news = {0};
  ssize_t n;
  do n = recv(control, &news, sizeof news, 0);
  while (n == -1 && errno == EINTR);
  if (n <= 0) return fail(result, STEP_CONTAINMENT, n == 0 ? EPIPE : errno); /* the warden was ended from outside */
  *result = (struct spawn_result){.pid = news.pid, .pidfd = -1, .step = (uint8_t)news.step, .error = news.error};
  if (news.news == WARDEN_STARTED) {
    /* The target cannot have been reaped, and its number given away, before the warden hears of its end from the kernel and the
     * warden reaps only what it has told of; a target that has ended meanwhile is a zombie or gone, and pidfd_open says so. */
    result->pidfd = (int)syscall(SYS_pidfd_open, news.pid, 0);
    fcntl(control, F_SETFL, O_NONBLOCK);
    return 0;
  }
  memcpy(result->subject, news.subject, sizeof result->subject);
  return -1;
}

int warden_spawn(const struct spawn_request *request, const char *warden_program, struct spawn_result *result, struct warded *warded) {
  int pair[2], fds[SPAWN_MAX_FDS];
  uint32_t numbers[SPAWN_MAX_FDS];
  char control[12], terminal[12], terminal_fd[12], limits[SPAWN_MAX_LIMITS * WARDEN_LIMIT_BYTES];
  struct spawn_request own = *request;
  size_t argc = 0;

  if (request->fd_count >= SPAWN_MAX_FDS || request->limit_count > SPAWN_MAX_LIMITS) return fail(result, STEP_DESCRIPTOR, E2BIG);
  while (request->argv[argc] != NULL) argc++;
  char **argv = calloc(argc + 9, sizeof *argv);
  if (argv == NULL) return fail(result, STEP_FORK, ENOMEM);
  if (FAULT(socketpair) || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1) {
    free(argv);
    return fail(result, STEP_FORK, errno);
  }
  for (size_t i = 0; i < request->fd_count; i++) fds[i] = request->fds[i], numbers[i] = request->numbers[i];
  fds[request->fd_count] = pair[1];
  numbers[request->fd_count] = control_number(request);
  snprintf(control, sizeof control, "%u", numbers[request->fd_count]);
  snprintf(terminal, sizeof terminal, "%u", request->terminal);
  snprintf(terminal_fd, sizeof terminal_fd, "%u", request->terminal_fd);
  write_limits(request, limits, sizeof limits);
  char *words[] = {(char *)(size_t)warden_program, (char[]){"__warden"}, control, terminal, terminal_fd, limits, (char *)(size_t)request->program};
  memcpy(argv + 1, words, sizeof words);
  memcpy(argv + 8, request->argv, argc * sizeof *argv);

  own.program = warden_program;
  own.argv = argv + 1;
  own.fds = fds;
  own.numbers = numbers;
  own.fd_count++;
  own.limit_count = 0;
  own.terminal = WIRE_TERMINAL_PLAIN;
  int outcome = spawn_target(&own, result);
  close(pair[1]);
  free(argv);
  if (outcome == 0) {
    *warded = (struct warded){.warden = result->pid, .control = pair[0]};
    if (result->pidfd >= 0) close(result->pidfd);
    outcome = first_report(pair[0], result);
  } else if (result->step == STEP_PROGRAM || result->step == STEP_INTERPRETER) {
    result->step = STEP_CONTAINMENT; /* it is our own program that is not there */
  }
  if (outcome != 0) close(pair[0]);
  return outcome;
}
