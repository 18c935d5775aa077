/* What runner-exec says of itself: one line on stderr that starts with its name, a cause, and a cure. */
#ifndef HOLDFAST_CLIENT_MESSAGES_H
#define HOLDFAST_CLIENT_MESSAGES_H

/* Exit codes that are ours; every other one is the target's. */
enum { EXIT_DEADLINE = 124, EXIT_OURS = 125, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };

/* Writes "runner-exec: MESSAGE" with one write(2). The hint (NULL: none) follows on a line of its own at a terminal, else on the
 * same line, so that a log holds exactly one line. Control characters of foreign text are escaped. Never fails. */
void say(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where stdout and stderr are one pipe (`2>&1 |`), stops being one of its writers: its reader is to see the end when the target
 * closes it, although this process lives on. The next say() finds the pipe again, unless its last reader has gone. A stderr of
 * its own stays open: there the last words matter more. Before stdout is given up; `filler` takes the number. */
void messages_step_back(int filler);

#endif
