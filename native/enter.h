/* The first program of ours inside an environment that is being entered.
 * `runner-exec __enter NODE CLI STEM` becomes the session's agent; `runner-exec __enter __capture STEM` leaves the environ, for a
 * snapshot, in STEM.capture. */
#ifndef HOLDFAST_ENTER_H
#define HOLDFAST_ENTER_H

/* `argv` holds the words behind `__enter`. Becomes the agent, and returns the status to exit with when that failed; or, for a snapshot,
 * when it is done. */
int enter_main(int argc, char **argv);

#endif
