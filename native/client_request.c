#include "client_request.h"

#include <errno.h>
#include <sys/stat.h>

#include "client_memory.h"
#include "client_messages.h"
#include "wire.h"

/* Linux has no other way to ask; nothing else runs in this process that could see it. */
static uint32_t file_mode_mask(void) {
  mode_t mask = umask(0);
  umask(mask);
  return (uint32_t)mask;
}

static uint16_t flags_of(const struct request *request) {
  const struct options *options = request->options;
  int flags = (options->exact ? WIRE_RUN_EXACT : 0) | (options->detach ? WIRE_RUN_DETACH : 0) | (options->report != NULL ? WIRE_RUN_REPORT : 0);
  return (uint16_t)(flags | (request->directory->fd >= 0 ? WIRE_RUN_CWD_FD : 0) | (request->changes->caller ? WIRE_RUN_CALLER : 0));
}

/* The directory's descriptor rides last. */
static int place_directory(struct request *request) {
  request->fd_count = request->descriptors->count;
  if (request->directory->fd < 0) return OPTIONS_GO_ON;
  if (request->fd_count == WIRE_MAX_FDS) {
    say("name the directory with '--cwd', or pass one descriptor less", "cannot pass %d descriptors from a directory that has no name: the kernel passes %d", WIRE_MAX_FDS, WIRE_MAX_FDS);
    return EXIT_OURS;
  }
  request->descriptors->held[request->fd_count++] = request->directory->fd;
  return OPTIONS_GO_ON;
}

int request_encode(struct request *request) {
  const struct options *options = request->options;
  const char *argv0 = options->command[0];
  union { char **in; const char **out; } words = {.in = options->command};
  int status = place_directory(request);
  if (status != OPTIONS_GO_ON) return status;

  struct wire_run run = {
    .flags = flags_of(request),
    .terminal = request->terminal, .terminal_fd = request->terminal_fd,
    .nice_set = options->nice_set, .nice = options->nice,
    .umask = file_mode_mask(), .ignored = request->ignored,
    .kill_grace_ms = options->kill_grace_ms, .timeout_ms = options->timeout_ms,
    .fd_numbers = request->descriptors->numbers, .fd_count = request->descriptors->count,
    .limits = options->limits, .limit_count = options->limit_count,
    .argv = words.out, .argc = options->command_words,
    .program = options->argv0 == NULL ? NULL : argv0,
    .env = request->changes->words, .env_count = request->changes->count,
    .cwd = request->directory->target,
  };
  if (options->argv0 != NULL) words.out[0] = options->argv0;
  int result = wire_encode_run(&run, memory_take, &request->frame, &request->frame_bytes);
  words.out[0] = argv0;
  if (result == 0) return OPTIONS_GO_ON;
  if (result == -E2BIG) return say("give long lists in a file, or by standard input", "cannot run '%s': Argument list too long", argv0), EXIT_NOT_RUNNABLE;
  say(NULL, "cannot run '%s': %s", argv0, result == -ENOMEM ? "out of memory" : "the request cannot be encoded");
  return EXIT_OURS;
}
