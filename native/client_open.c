#include "client_open.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_messages.h"
#include "client_signals.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum { WORDS_BYTES = 4096, MOST_WORDS = 4, FAILURE_BYTES = 1024, TOOL_FAILED = 1, TOOL_MISUSED = 2 };

struct tool_call {
  const char *words[MOST_WORDS]; /* behind `holdfast`; NULL: no more */
  const char *failure;           /* as in "cannot open the session of '%s'" */
  const char *name;
};

const char *project_tool(char path[DIRECTORY_BYTES]) {
  static const char name[] = "/holdfast.cjs";
  ssize_t length = readlink("/proc/self/exe", path, DIRECTORY_BYTES - sizeof name);
  if (length <= 0) return "holdfast";
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (slash == NULL) return "holdfast";
  memcpy(slash, name, sizeof name);
  return access(path, X_OK) == 0 ? path : "holdfast";
}

/* Runs between fork and exec. `words_fd`: where it writes, or -1 for our stderr. Nothing of the caller's may live on in the environment that is opened: 3 and up are closed. */
static _Noreturn void become_tool(const char *tool, const struct tool_call *call, int words_fd, const sigset_t *mask) {
  int null = open("/dev/null", O_RDWR);
  union { const char *in; char *out; } own[] = {{.in = "holdfast"}, {.in = "--quiet"}}, word;
  char *argv[MOST_WORDS + 3] = {own[0].out};
  size_t count = 1;
  for (size_t i = 0; i < MOST_WORDS && (word.in = call->words[i]) != NULL; i++) {
    argv[count++] = word.out;
    if (i == 0 && words_fd >= 0) argv[count++] = own[1].out; /* nobody sees how far it is, and what it says in the end is wanted */
  }
  bool closed = (fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) != 0; /* only our own placeholder has that mark */
  dup2(null, STDIN_FILENO);
  if (words_fd >= 0 || closed) dup2(words_fd >= 0 ? words_fd : null, STDERR_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  if (syscall(SYS_close_range, 3, ~0U, 0) < 0)
    for (int fd = 3; fd < 1024; fd++) close(fd);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(tool, argv);
  _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE);
}

/* Waits for the end of `child`; a signal that ends us goes to it first. */
static int await_tool(pid_t child, const sigset_t *watched) {
  int status = 0, deadly = 0;
  for (;;) {
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    siginfo_t info;
    int signal = sigwaitinfo(watched, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    deadly = signal;
    if (info.si_code != SI_KERNEL) kill(child, signal); /* what a terminal sends reaches the whole group by itself */
  }
  if (deadly != 0) signals_die(deadly);
  return status;
}

/* The tool's cause and cure ("holdfast: CAUSE" and "hint: CURE", a line each) out of what it wrote. Cuts `words` up. */
static const char *find_line(char *words, const char *start) {
  for (char *line = words, *end; line != NULL && *line != '\0'; line = end) {
    end = strchr(line, '\n');
    if (end != NULL) *end++ = '\0';
    bool found = strncmp(line, start, strlen(start)) == 0;
    if (found) return line + strlen(start);
    if (end != NULL) end[-1] = '\n';
  }
  return NULL;
}

/* `seen`: it wrote to the terminal itself, and ended as it does when it has said what is wrong. */
static void say_why(int status, const struct tool_call *call, char *words, bool seen) {
  char name[16], failure[FAILURE_BYTES];
  const char *hint = find_line(words, "hint: "), *cause = find_line(words, "holdfast: ");
  snprintf(failure, sizeof failure, call->failure, call->name);
  if (hint == NULL) hint = "try it by hand with 'holdfast open --project DIR'; 'holdfast doctor' checks the installation";
  if (WIFSIGNALED(status)) say(hint, "%s: 'holdfast %s' died of %s", failure, call->words[0], signal_name(WTERMSIG(status), name));
  else if (WEXITSTATUS(status) == EXIT_NOT_FOUND) say("install holdfast and node, or put them on the PATH", "%s: 'holdfast' was not found", failure);
  else if (seen && (WEXITSTATUS(status) == TOOL_FAILED || WEXITSTATUS(status) == TOOL_MISUSED)) say(NULL, "%s: see above", failure);
  else if (cause != NULL) say(hint, "%s: %s", failure, cause);
  else say(hint, "%s: 'holdfast %s' ended with status %d", failure, call->words[0], WEXITSTATUS(status));
}

static bool judge(int status, const struct tool_call *call, int words_fd) {
  char words[WORDS_BYTES];
  ssize_t length = words_fd < 0 ? 0 : pread(words_fd, words, sizeof words - 1, 0);
  words[length < 0 ? 0 : length] = '\0';
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return say_why(status, call, words, words_fd < 0), false;
  /* A warning, since it did what it was asked for. */
  if (length > 0 && write(STDERR_FILENO, words, (size_t)length) < 0) return true;
  return true;
}

static bool run_tool(const struct tool_call *call) {
  static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  char path[DIRECTORY_BYTES];
  const char *tool = project_tool(path);
  struct sigaction plain = {.sa_handler = SIG_DFL}, kept, now;
  sigset_t watched, before;

  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaction(SIGCHLD, &plain, &kept); /* ignored, it would take the child's status away */
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
    if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&watched, deadly[i]);
  sigprocmask(SIG_BLOCK, &watched, &before);
  int words_fd = isatty(STDERR_FILENO) ? -1 : (int)syscall(SYS_memfd_create, "holdfast-open", 1U /* MFD_CLOEXEC */);
  pid_t child = fork();
  if (child == 0) become_tool(tool, call, words_fd, &before);
  if (child < 0) say(NULL, "cannot start 'holdfast %s': fork: %s", call->words[0], strerror(errno));
  bool opened = child > 0 && judge(await_tool(child, &watched), call, words_fd);
  if (words_fd >= 0) close(words_fd);
  sigprocmask(SIG_SETMASK, &before, NULL);
  sigaction(SIGCHLD, &kept, NULL);
  return opened;
}

bool project_open(const char *directory) {
  struct tool_call call = {.words = {"open", "--project", directory}, .failure = "cannot open the session of '%s'", .name = directory};
  return run_tool(&call);
}

bool session_open_again(const char *option, const char *name) {
  struct tool_call call = {.words = {"reopen", "--if-stale", option, name}, .failure = "cannot open session '%s' again", .name = name};
  return run_tool(&call);
}
