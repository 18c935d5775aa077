/* The changes to the base environment that one request carries, weakest first (docs/protocol.md §4, field `env`). */
#ifndef HOLDFAST_CLIENT_ENVIRONMENT_H
#define HOLDFAST_CLIENT_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "client_directory.h"
#include "client_jobserver.h"
#include "client_options.h"

struct changes {
  const char **words; /* '=K=V', '-K', '?K=V', ':DIR', '~K=V' */
  bool *passed;       /* the value is the caller's own, taken by name; else it was given */
  size_t count, room;
  bool caller;        /* our whole environment is among them, as '~K=V' */
};

struct change_sources {
  const struct options *options;
  const struct directory *directory;
  const struct jobserver *jobserver;
  char *runtime_pass; /* the session's ID.pass: its runtime_pass_env, one name a line; NULL: none. Is cut up, and must outlive the changes */
  bool terminal;      /* one of the target's 0, 1, 2 is a terminal */
  bool caller;        /* the agent has asked for our environment */
};

/* OPTIONS_GO_ON, or the status to exit with. Starts `out` anew. */
int changes_collect(const struct change_sources *from, struct changes *out);

#endif
