/* The caller's terminal: who is in its foreground, its modes, and giving it away to the target for good. */
#ifndef HOLDFAST_CLIENT_TERMINAL_H
#define HOLDFAST_CLIENT_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

/* May this process read `fd` without being stopped for it? True also where the terminal is not our controlling one. */
bool terminal_in_foreground(int fd);

/* Which of 0, 1, 2 is our controlling terminal while we are the leader of its session, and in its foreground; -1: none. */
int terminal_to_hand_over(const bool is_terminal[3]);

/* Lets go of the controlling terminal, so that the target can make it its own. Call with no signal blocked yet. False: it stayed. */
bool terminal_drop(int fd);

/* Takes it back, after a target that never came to be. */
void terminal_retake(int fd);

/* Raw mode for a relay, and back. `saved` holds what terminal_make_raw() found. Neither can stop the process. */
bool terminal_make_raw(int fd, struct termios *saved);
void terminal_restore(int fd, const struct termios *saved);

#endif
