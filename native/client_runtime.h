/* The per-user directory that holds the sockets. What another user could have planted is refused by name. */
#ifndef HOLDFAST_CLIENT_RUNTIME_H
#define HOLDFAST_CLIENT_RUNTIME_H

#include <stdbool.h>

#include "client_session.h"

/* The directory's path: $HOLDFAST_RUNTIME_DIR, else $XDG_RUNTIME_DIR/holdfast, else /tmp/holdfast-UID. NULL: too long. */
const char *runtime_path(unsigned user);

/* An O_PATH descriptor (the caller's) of a directory that is ours alone; -ENOENT when there is none; -EPERM when it was refused,
 * and said why. */
int runtime_open(const char *path, unsigned user);

/* `name` itself where it makes a plain file name, else a hash of it. */
void session_id(const char *name, char out[SESSION_ID_BYTES]);

#endif
