/* Shims: symbolic links to runner-exec under the names of tools ('holdfast shim install'). Whoever looks a program up passes them
 * over, else a session that has their directory on its PATH would ask itself for the tool, again and again. */
#ifndef HOLDFAST_SHIM_H
#define HOLDFAST_SHIM_H

#include <stdbool.h>

/* What stands in a place of the PATH. Async-signal-safe: one readlink(2). */
enum shim_look {
  SHIM_NOTHING, /* no file; nothing needs to be tried */
  SHIM_OTHER,   /* a file, or something that cannot be looked at */
  SHIM_LINK,    /* a link under another name to a file called runner-exec: of this installation or of another one */
};

enum shim_look shim_look_at(const char *path);

/* What is behind the last slash. */
const char *shim_base(const char *path);

#endif
