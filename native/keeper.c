/* The keeper of what a session's start command made, most often a container: it runs that command, tells the opener what it printed
 * last (the {id}), and runs the stop command when the session is over, however that came about. It has the opener's environment, which
 * the agent has not, and it outlives an agent that is killed.
 *
 * Standard input: the opener, who sends one byte when the agent serves; an end before that means that nobody wants the container.
 * FIFO: the agent has it open for writing as long as it lives. Standard output: one line to the opener. Standard error: the log.
 * The FIFO is removed when all is well: one that is left, without a keeper, says that the stop command is still to be run. */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  ID_BYTES = 4096,
  PATIENCE_MS = 3000, /* for a start that nobody waits for any more: cut short, it would leave something that has no name yet */
  KILL_AFTER_MS = 2000,
  STOP_MS = 120000,
  LATE_MS = 1000 /* what a killed start has asked of a daemon may come true this much later */
};

struct keeper {
  const char *fifo_path;
  int fifo;
  int opener; /* -1: gone, or of no importance any more */
  int signals;
  bool is_handed_over;
  bool is_wanted;
  char id[ID_BYTES]; /* the last line that start printed */
  char line[ID_BYTES];
  size_t line_length;
};

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In a session of its own: a terminal's Ctrl-C is not for it. Returns its pid, or -1. `output` becomes its standard output. */
static pid_t run(char *const words[], int output) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();
  int input = open("/dev/null", O_RDWR);
  if (input == -1 || dup2(input, 0) == -1 || dup2(output, 1) == -1) _exit(126);
  if (input > 2) close(input);
  execvp(words[0], words);
  dprintf(2, "holdfast: cannot run '%s': %s\n", words[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/* The last line that is not empty is kept; all of it goes to the log as well. False: nobody has it open any more. */
static bool take_output(struct keeper *keeper, int output) {
  char bytes[1024];
  ssize_t n;
  while ((n = read(output, bytes, sizeof bytes)) > 0) {
    for (ssize_t sent = 0, m; sent < n && (m = write(2, bytes + sent, (size_t)(n - sent))) > 0;) sent += m;
    for (ssize_t i = 0; i < n; i++) {
      bool is_end = bytes[i] == '\n' || bytes[i] == '\r';
      if (!is_end && keeper->line_length < sizeof keeper->line - 1) keeper->line[keeper->line_length++] = bytes[i];
      if (!is_end) continue;
      keeper->line[keeper->line_length] = '\0';
      if (keeper->line_length > 0) memcpy(keeper->id, keeper->line, keeper->line_length + 1);
      keeper->line_length = 0;
    }
  }
  return n != 0;
}

static void end_output(struct keeper *keeper) {
  keeper->line[keeper->line_length] = '\0';
  if (keeper->line_length > 0) memcpy(keeper->id, keeper->line, keeper->line_length + 1);
}

/* What the opener has to say: a byte, or its end. */
static void hear_opener(struct keeper *keeper) {
  char byte;
  ssize_t n = read(keeper->opener, &byte, 1);
  if (n == 1) keeper->is_handed_over = true;
  if (n == 1 || (n == -1 && (errno == EINTR || errno == EAGAIN))) return;
  close(keeper->opener);
  keeper->opener = -1;
  if (!keeper->is_handed_over) keeper->is_wanted = false;
}

/* Sleeps until a child ends, the opener or `output` has something, or `until` (0: for ever) has come. */
static void wait_for_news(struct keeper *keeper, int output, long until) {
  long rest = until == 0 ? -1 : until - now_ms();
  struct pollfd waits[4] = {{.fd = keeper->signals, .events = POLLIN}, {.fd = keeper->opener, .events = POLLIN},
                            {.fd = output, .events = POLLIN}, {.fd = keeper->fifo}};
  poll(waits, 4, until != 0 && rest < 0 ? 0 : (int)rest);
  struct signalfd_siginfo drained;
  while (read(keeper->signals, &drained, sizeof drained) > 0) {}
  if (waits[1].revents != 0) hear_opener(keeper);
  if (waits[3].revents & POLLHUP) keeper->is_wanted = false; /* the agent had it open, and is gone */
}

/* Runs the start command to its end. Returns its wait status; -1: it had to be killed. */
static int start(struct keeper *keeper, char *const words[]) {
  int pipe_ends[2], status = -1;
  if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) == -1) return -1;
  pid_t pid = run(words, pipe_ends[1]);
  close(pipe_ends[1]);
  bool has_ended = pid == -1, was_killed = false, has_output = true;
  /* Its end counts, not that of its output: a container may hold that for as long as it lives. */
  for (long until = 0; !has_ended;) {
    if (!keeper->is_wanted && until == 0) until = now_ms() + PATIENCE_MS;
    wait_for_news(keeper, has_output ? pipe_ends[0] : -1, until);
    has_output = take_output(keeper, pipe_ends[0]);
    has_ended = waitpid(pid, &status, WNOHANG) != 0;
    if (has_ended || until == 0 || now_ms() < until) continue;
    kill(-pid, was_killed ? SIGKILL : SIGTERM);
    was_killed = true;
    until = now_ms() + KILL_AFTER_MS;
  }
  take_output(keeper, pipe_ends[0]);
  end_output(keeper);
  close(pipe_ends[0]);
  return pid == -1 || was_killed ? -1 : status;
}

/* `word` with the id in the place of each {id}; never freed, as the process ends soon. NULL: the id is not known. */
static char *filled(const char *word, const char *id) {
  size_t length = strlen(word), more = strlen(id);
  char *out = malloc(length * (more + 1) + 1), *end = out;
  if (out == NULL) return NULL;
  while (*word != '\0') {
    bool is_here = strncmp(word, "{id}", 4) == 0;
    if (is_here && more == 0) return NULL;
    memcpy(end, is_here ? id : word, is_here ? more : 1);
    end += is_here ? more : 1;
    word += is_here ? 4 : 1;
  }
  *end = '\0';
  return out;
}

/* True: it has been run, and ended well. */
static bool stop(struct keeper *keeper, int count, char *const words[]) {
  char **argv = calloc((size_t)count + 1, sizeof *argv);
  if (argv == NULL) return false;
  for (int i = 0; i < count; i++)
    if ((argv[i] = filled(words[i], keeper->id)) == NULL) return true; /* nothing has come of start that could be named */
  pid_t pid = run(argv, 2);
  if (pid == -1) return false;
  int status = 0;
  for (long until = now_ms() + STOP_MS; waitpid(pid, &status, WNOHANG) == 0;) {
    if (now_ms() >= until) kill(-pid, SIGKILL);
    struct pollfd wait = {.fd = keeper->signals, .events = POLLIN};
    poll(&wait, 1, 1000);
    struct signalfd_siginfo drained;
    while (read(keeper->signals, &drained, sizeof drained) > 0) {}
  }
  return status == 0;
}

static void prepare(struct keeper *keeper) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL); /* its children inherit what is ignored */
  keeper->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1); /* what goes into the background is ours, and not the opener's to end */
  fcntl(STDIN_FILENO, F_SETFD, FD_CLOEXEC);
  fcntl(STDOUT_FILENO, F_SETFD, FD_CLOEXEC);
}

int keeper_main(int argc, char **argv) {
  int count = argc > 2 ? atoi(argv[1]) : 0, stops = argc - 2 - count;
  if (count < 1 || stops < 0) return 125;
  struct keeper keeper = {.fifo_path = argv[0], .fifo = -1, .opener = STDIN_FILENO, .signals = -1, .is_wanted = true};
  char **start_words = calloc((size_t)count + 1, sizeof *start_words);
  if (start_words == NULL) return 125;
  memcpy(start_words, argv + 2, (size_t)count * sizeof *start_words);
  prepare(&keeper);
  if (stops > 0) {
    unlink(keeper.fifo_path);
    if (mkfifo(keeper.fifo_path, 0600) == -1) return 125;
    keeper.fifo = open(keeper.fifo_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  int status = start(&keeper, start_words);
  dprintf(STDOUT_FILENO, "%d %s\n", status, keeper.id);
  close(STDOUT_FILENO);
  if (stops == 0) return 0;
  while (status == 0 && keeper.is_wanted) {
    wait_for_news(&keeper, -1, 0);
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
  }
  bool is_stopped = stop(&keeper, stops, argv + 2 + count);
  if (status == -1) {
    nanosleep(&(struct timespec){.tv_sec = LATE_MS / 1000}, NULL);
    stop(&keeper, stops, argv + 2 + count);
  }
  /* What never started well need not be there to be stopped. */
  if (is_stopped || status != 0) unlink(keeper.fifo_path);
  return 0;
}
