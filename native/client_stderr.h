/* Descriptor 2 while the target runs. The client keeps it for its last words (a deadline, a lost session), but a reader of that
 * pipe is to see the end when the target closes it, although this process lives on. So it is looked at now and then, and given
 * up once the target has. */
#ifndef HOLDFAST_CLIENT_STDERR_H
#define HOLDFAST_CLIENT_STDERR_H

#include <stdbool.h>

enum { STDERR_LOOK_MS = 200 };

/* Whether there is something to look at: stderr is a pipe. */
bool stderr_is_watched(void);

/* One look. False: there is no need for another. `pidfd` is the target's; `filler` takes the number of what is given up. */
bool stderr_look(int pidfd, int filler);

/* Before writing to it: finds the pipe again, unless its last reader has gone. */
void stderr_take_back(void);

#endif
