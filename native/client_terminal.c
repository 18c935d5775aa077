#include "client_terminal.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_in_foreground(int fd) {
  pid_t foreground = tcgetpgrp(fd);
  return foreground < 0 || foreground == getpgrp();
}

int terminal_to_hand_over(const bool is_terminal[3]) {
  for (int fd = 0; fd < 3; fd++) {
    if (!is_terminal[fd]) continue;
    pid_t self = getpid();
    /* tcgetsid(3) answers for a controlling terminal only. */
    if (tcgetsid(fd) == self && tcgetpgrp(fd) == getpgrp()) return fd;
  }
  return -1;
}

/* The kernel tells the foreground group with SIGHUP and SIGCONT that its leader has gone: to us that is no news. Ignored and not
 * blocked, they are thrown away at once; blocked, they would wait and be taken for the caller's. */
bool terminal_drop(int fd) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, hup, cont;
  sigset_t both, before;
  sigemptyset(&both);
  sigaddset(&both, SIGHUP);
  sigaddset(&both, SIGCONT);
  sigaction(SIGHUP, &ignore, &hup);
  sigaction(SIGCONT, &ignore, &cont);
  sigprocmask(SIG_UNBLOCK, &both, &before);
  bool dropped = ioctl(fd, TIOCNOTTY) == 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  sigaction(SIGHUP, &hup, NULL);
  sigaction(SIGCONT, &cont, NULL);
  return dropped;
}

void terminal_retake(int fd) { (void)ioctl(fd, TIOCSCTTY, 0); }

static bool set(int fd, const struct termios *modes) {
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  sigprocmask(SIG_BLOCK, &stop, &before);
  /* At once, not when output has drained: a terminal that is held with ^S would keep us here. */
  bool done = tcsetattr(fd, TCSANOW, modes) == 0;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return done;
}

bool terminal_make_raw(int fd, struct termios *saved) {
  struct termios raw;
  if (tcgetattr(fd, saved) < 0) return false;
  raw = *saved;
  cfmakeraw(&raw);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  return set(fd, &raw);
}

void terminal_restore(int fd, const struct termios *saved) { set(fd, saved); }
