/* Opening a project's session on first use, and any session once more when what it was made of has changed. */
#ifndef HOLDFAST_CLIENT_OPEN_H
#define HOLDFAST_CLIENT_OPEN_H

#include <stdbool.h>

#include "client_directory.h"

/* Runs `holdfast open --project DIRECTORY` and waits for it. False: it was said why not. At a terminal the tool shows there how far
 * it is; elsewhere its words are kept back, and a failure is one line of ours with its cause. A signal that would end us is passed
 * on first, so that a half-entered environment ends with us. */
bool project_open(const char *directory);

/* Likewise `holdfast reopen --if-stale OPTION NAME`: of a session whose agent says that it is stale. `option`: "--", or "--socket" where
 * NAME is a socket. Returns at once where another client has done it meanwhile. */
bool session_open_again(const char *option, const char *name);

/* The command line tool, which lies beside this program whichever link or PATH led here; else its name, for the PATH. */
const char *project_tool(char path[DIRECTORY_BYTES]);

#endif
