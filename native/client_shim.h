/* runner-exec under the name of a tool: `cargo build` through a link called cargo runs cargo in the session. */
#ifndef HOLDFAST_CLIENT_SHIM_H
#define HOLDFAST_CLIENT_SHIM_H

#include <stdbool.h>

/* The tool that this process was started as; NULL: runner-exec itself, be it under its own name, a copy's, or as a script's `#!`. */
const char *shim_tool(char **argv);

/* Whether the words behind it run `holdfast` itself, as its first line does when 'node' is a shim: that is to enter no session. */
bool shim_serves_holdfast(char **argv);

/* Whether we run inside the session whose files begin with `id`, in whichever runtime directory: then its environment is ours already. */
bool shim_is_inside(const char *id);

/* Becomes the next program called `tool` on our own PATH, with all that was given to us. Returns only when there is none: the
 * status to exit with, after it was said. `why`: why no session took it, for that message. */
int shim_step_aside(const char *tool, char **argv, const char *why);

#endif
