/* Pseudo-terminals of the client. `--pty`: the target's whole terminal, relayed to the caller's 0 and 1. Stand-in: only the input of a
 * command that was started in the background of a terminal. A plain target is not subject to that terminal's job control, and would
 * read the shell's keys; from a stand-in it gets what is typed while the client is in the foreground. */
#ifndef HOLDFAST_CLIENT_PTY_H
#define HOLDFAST_CLIENT_PTY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "client_descriptors.h"

enum { PTY_BUFFER_BYTES = 16384, PTY_POLLS = 3 };

struct pty_buffer {
  uint8_t *bytes;    /* PTY_BUFFER_BYTES of them */
  size_t start, end; /* what waits is bytes[start..end) */
};

struct pty {
  enum pty_use { PTY_NONE, PTY_WHOLE, PTY_STAND_IN } use;
  int master, slave; /* ours; both are -1 after a hang-up */
  int caller;        /* the caller's terminal that modes and size come from, borrowed; -1: there is none */
  int output;        /* borrowed: where the target's output goes; -1: nowhere any more */
  bool typed;        /* fd 0 is a terminal: what comes from it is keys, not data */
  bool started;      /* the target runs: from now on the caller's keys are its keys, Ctrl-C included */
  bool input_open;
  bool raw;          /* the caller's terminal is in raw mode; `saved` are its own modes */
  struct termios saved;
  size_t line_bytes; /* of an unfinished line that the target's line discipline holds */
  struct pty_buffer to_target, to_caller;
};

/* Which pseudo-terminal this call needs. */
enum pty_use pty_needed(bool asked, const struct descriptors *set);

/* Makes it, with the modes and the size of the caller's terminal, and puts its slave into `set`. 0 or -errno. */
int pty_open(struct pty *pty, enum pty_use use, struct descriptors *set);

/* The target runs. Until then the caller's terminal stays as it is, so that a session that does not answer can be left with Ctrl-C. */
void pty_start(struct pty *pty);

/* Raw mode while the client is in the foreground of the caller's terminal, and the terminal as it was. Both safe to repeat. */
void pty_enter(struct pty *pty);
void pty_leave(struct pty *pty);

/* Gives the target the caller's present window size. */
void pty_resize(const struct pty *pty);

/* Has the caller's terminal gone away? */
bool pty_caller_is_gone(const struct pty *pty);

/* Ends the pseudo-terminal as a closed window ends one: the kernel tells the target's session with SIGHUP. */
void pty_hang_up(struct pty *pty);

/* Modes of the target's terminal as they are now; false after a hang-up. */
bool pty_modes(const struct pty *pty, struct termios *out);

/* One step of the relay: what to wait for, for how long at most (-1: no limit), and what to do then. */
int pty_watch(struct pty *pty, struct pollfd polls[PTY_POLLS]);
void pty_pump(struct pty *pty, const struct pollfd polls[PTY_POLLS]);

/* After the target's end: writes out all that it wrote before, and does not wait for those it left behind. Stops for a signal that
 * `signals` (a signalfd) reports and `ignored` lacks, and returns it; else 0. */
int pty_drain(struct pty *pty, int signals, uint64_t ignored);

#endif
