/* Which session is meant, and the way to its socket. */
#ifndef HOLDFAST_CLIENT_SESSION_H
#define HOLDFAST_CLIENT_SESSION_H

#include "client_directory.h"
#include "client_options.h"

enum { SESSION_ID_BYTES = 49 };

struct session {
  enum { SESSION_SOCKET, SESSION_NAMED, SESSION_PROJECT } kind;
  const char *name;                      /* as messages have it: the socket's path, the name, the project's directory */
  char id[SESSION_ID_BYTES];             /* file names begin with it; not for SESSION_SOCKET */
  const char *runtime;                   /* path of the runtime directory */
  unsigned user;                         /* effective user id, ours and to be the agent's */
  int runtime_fd;                        /* O_PATH, ours; -1: not open (it may not exist yet) */
};

enum { SESSION_NONE = -2 };

/* Chooses by --socket, --session, $HOLDFAST_SESSION, project, in this order. OPTIONS_GO_ON, or the status to exit with; a shim that is in
 * no project gets SESSION_NONE, and nothing is said. */
int session_choose(const struct options *options, const struct directory *directory, struct session *out);

/* A connected non-blocking socket (the caller's), whose peer is the caller's own user; -1 when it was said why not. A project's
 * session that nobody serves is opened first. */
int session_connect(struct session *session);

/* Enters the environment of a session again that is stale; waits for its commands to end. False: it was said why not. */
bool session_reopen(const struct session *session);

/* True, after a wait, where another process was just opening or closing the session: a connection is worth another try. */
bool session_await_turn(const struct session *session);

/* The file ID.SUFFIX of the runtime directory, read whole and NUL-terminated into memory that is kept; NULL: none. */
char *session_read(const struct session *session, const char *suffix);

#endif
