#include "client_background.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include "client_process.h"
#include "client_terminal.h"

/* While the modes still are the target's: it puts them back before it stops. */
void background_on_key(struct background *background) {
  struct termios modes;
  background->key_was_sent = true;
  background->edits = background->shares && tcgetattr(STDIN_FILENO, &modes) == 0 && (modes.c_lflag & ICANON) == 0;
}

void background_on_stop(struct background *background, int signal) {
  if (signal == SIGTSTP && !background->key_was_sent) background->edits = true;
  background->key_was_sent = background->watched = false;
  background->stopped = true;
}

int background_stop_again(struct background *background, int pidfd) {
  bool away = background->shares && background->stopped && !terminal_in_foreground(STDIN_FILENO);
  if (away && background->edits) return SIGTTOU;
  if (away && process_group_reads(pidfd, STDIN_FILENO)) return SIGTTIN;
  background->watched = away;
  background->edits = false;
  return 0;
}

bool background_reads(struct background *background, int pidfd) {
  background->watched = !terminal_in_foreground(STDIN_FILENO);
  if (!background->watched || !process_group_reads(pidfd, STDIN_FILENO)) return false;
  background->watched = false;
  return true;
}
