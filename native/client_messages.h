/* What runner-exec says of itself: one line on stderr that starts with its name, a cause, and a cure. */
#ifndef HOLDFAST_CLIENT_MESSAGES_H
#define HOLDFAST_CLIENT_MESSAGES_H

/* Exit codes that are ours; every other one is the target's. */
enum { EXIT_DEADLINE = 124, EXIT_OURS = 125, EXIT_NOT_RUNNABLE = 126, EXIT_NOT_FOUND = 127 };

/* Writes "runner-exec: MESSAGE" with one write(2). The hint (NULL: none) follows on a line of its own at a terminal, else on the
 * same line, so that a log holds exactly one line. Control characters of foreign text are escaped. Never fails. */
void say(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
