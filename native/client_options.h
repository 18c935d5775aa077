/* The command line of runner-exec (docs: `runner-exec --help`), parsed once into this. */
#ifndef HOLDFAST_CLIENT_OPTIONS_H
#define HOLDFAST_CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

enum { OPTIONS_MAX_LIMITS = 16, KILL_GRACE_OF_SESSION = -1 };

struct env_option {
  enum { ENV_SET, ENV_PASS, ENV_UNSET, ENV_PATH_PREPEND } kind;
  const char *text; /* K=V, K (or "*"), K, a directory */
};

struct options {
  const char *session, *socket, *cwd, *argv0, *report;
  bool exact, pty, detach;
  enum { JOBSERVER_WHEN_THERE, JOBSERVER_REQUIRED, JOBSERVER_OFF } jobserver;
  struct env_option *env; /* in the order typed */
  size_t env_count;
  uint32_t fds[WIRE_MAX_FDS];
  size_t fd_count;
  struct wire_limit limits[OPTIONS_MAX_LIMITS];
  size_t limit_count;
  bool nice_set;
  int8_t nice;
  uint32_t timeout_ms, kill_grace_ms;
  const char *timeout_text;
  const char *shim; /* the tool that we were called as; NULL: as runner-exec */
  char **command;   /* NULL-terminated, at least one word */
  size_t command_words;
};

enum { OPTIONS_GO_ON = -1 };

/* Fills `out`, whose pointers stay in argv. OPTIONS_GO_ON, or the status to exit with: what there was to say has been said. */
int options_parse(int argc, char **argv, struct options *out);

/* The same for a shim, where no word is an option of ours. */
int options_of_shim(const char *tool, char **argv, struct options *out);

#endif
