/* Job control of the caller's terminal for a target that has it plainly. The kernel leaves that target alone, since it is in the
 * agent's session, not the terminal's; so after `bg` it would read the shell's keys, or set the terminal's modes under the shell. What
 * the kernel does to a direct run is done here, as far as it can be seen from outside. */
#ifndef HOLDFAST_CLIENT_BACKGROUND_H
#define HOLDFAST_CLIENT_BACKGROUND_H

#include <stdbool.h>

enum { BACKGROUND_LOOK_MS = 250 };

struct background {
  bool shares;      /* the target has the caller's terminal as its input; fd 0 of ours is still that terminal */
  bool key_was_sent; /* by us: a target that SIGTSTP stops without has taken the key for itself, as editors do */
  bool edits;       /* the target had the terminal's line editing off when it was stopped: it will set modes when it goes on */
  bool stopped;     /* the target is stopped */
  bool watched;     /* it was resumed in the background, where it may come to read */
};

/* The key that stops is about to be passed on. */
void background_on_key(struct background *background);
void background_on_stop(struct background *background, int signal);

/* Before a stopped target is resumed: the signal by which the terminal would stop it again, or 0. */
int background_stop_again(struct background *background, int pidfd);

/* For every BACKGROUND_LOOK_MS while `watched`: whether the target has come to read the terminal. Says so once. */
bool background_reads(struct background *background, int pidfd);

#endif
