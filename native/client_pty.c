#include "client_pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "client_memory.h"
#include "client_terminal.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

enum { DEFAULT_ROWS = 24, DEFAULT_COLUMNS = 80 };

/* Of the one pseudo-terminal that a call can need. */
ASIDE static uint8_t buffers[2][PTY_BUFFER_BYTES];

enum pty_use pty_needed(bool asked, const struct descriptors *set) {
  if (asked) return PTY_WHOLE;
  return set->terminal[0] && !terminal_in_foreground(0) ? PTY_STAND_IN : PTY_NONE;
}

/* The peer is opened through the master itself: in a container /dev/pts may be another one. Linux 4.13 has that, else by name. */
static int open_slave(int master) {
  char name[64];
  /* Not born with CLOEXEC: this call would leave it among the flags of the open file, where the target sees it. */
  int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
  if (slave >= 0) return fcntl(slave, F_SETFD, FD_CLOEXEC) < 0 ? -errno : slave;
  if (ptsname_r(master, name, sizeof name) != 0) return -errno;
  slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return slave < 0 ? -errno : slave;
}

static int open_pair(struct pty *pty) {
  int unlocked = 0;
  pty->slave = -1;
  pty->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (pty->master < 0) return -errno;
  pty->slave = ioctl(pty->master, TIOCSPTLCK, &unlocked) < 0 ? -errno : open_slave(pty->master);
  if (pty->slave >= 0) return 0;
  int error = pty->slave;
  close(pty->master);
  pty->master = pty->slave = -1;
  return error;
}

static void set_modes(const struct pty *pty) {
  struct termios modes;
  /* In the background the caller's terminal has the modes of the shell's line editor: those are not meant for us. */
  bool copy = pty->caller >= 0 && terminal_in_foreground(pty->caller);
  if (tcgetattr(copy ? pty->caller : pty->slave, &modes) < 0) return;
  if (!copy) modes.c_iflag |= IUTF8;
  /* Nobody sees himself type what comes from a pipe, or was echoed by the terminal it was typed on. */
  if (!pty->typed || pty->use == PTY_STAND_IN) modes.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
  /* Not typed on, the caller's terminal is not made raw either, and gives each line end its carriage return: once is enough. */
  if (pty->use == PTY_WHOLE && !pty->typed && isatty(pty->output) == 1) modes.c_oflag &= ~(tcflag_t)ONLCR;
  if (pty->use == PTY_STAND_IN) (modes.c_lflag &= ~(tcflag_t)ISIG, modes.c_iflag &= ~(tcflag_t)(IXON | IXOFF));
  tcsetattr(pty->slave, TCSANOW, &modes);
}

void pty_resize(const struct pty *pty) {
  struct winsize size = {.ws_row = DEFAULT_ROWS, .ws_col = DEFAULT_COLUMNS};
  if (pty->caller >= 0) ioctl(pty->caller, TIOCGWINSZ, &size);
  if (pty->master >= 0) ioctl(pty->master, TIOCSWINSZ, &size);
}

int pty_open(struct pty *pty, enum pty_use use, struct descriptors *set) {
  int error = open_pair(pty);
  if (error < 0) return error;
  pty->use = use;
  pty->typed = set->terminal[0];
  pty->caller = -1;
  for (int fd = 2; fd >= 0; fd--)
    if (set->terminal[fd]) pty->caller = fd;
  pty->output = use == PTY_STAND_IN ? 0 : set->open[1] ? 1 : -1;
  pty->input_open = true;
  pty->started = pty->raw = false;
  pty->line_bytes = 0;
  pty->to_target = (struct pty_buffer){.bytes = buffers[0]};
  pty->to_caller = (struct pty_buffer){.bytes = buffers[1]};
  set_modes(pty);
  pty_resize(pty);
  for (uint32_t fd = 0; fd < (use == PTY_STAND_IN ? 1 : 3); fd++) descriptors_replace(set, fd, pty->slave);
  return 0;
}

void pty_start(struct pty *pty) {
  pty->started = true;
  pty_enter(pty);
}

void pty_enter(struct pty *pty) {
  if (pty->use != PTY_WHOLE || !pty->started || !pty->typed || pty->raw || pty->master < 0 || !terminal_in_foreground(0)) return;
  pty->raw = terminal_make_raw(0, &pty->saved);
}

void pty_leave(struct pty *pty) {
  /* In the background the terminal has another user, with modes of its own. */
  if (pty->raw && terminal_in_foreground(0)) terminal_restore(0, &pty->saved);
  pty->raw = false;
}

bool pty_caller_is_gone(const struct pty *pty) {
  struct pollfd caller = {.fd = pty->caller};
  return pty->caller >= 0 && poll(&caller, 1, 0) > 0 && (caller.revents & POLLHUP) != 0;
}

void pty_hang_up(struct pty *pty) {
  if (pty->master >= 0) close(pty->master);
  if (pty->slave >= 0) close(pty->slave);
  pty->master = pty->slave = -1;
  pty->input_open = false;
}

bool pty_modes(const struct pty *pty, struct termios *out) { return pty->slave >= 0 && tcgetattr(pty->slave, out) == 0; }
