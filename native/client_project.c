#include "client_project.h"

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

/* In the order in which one directory is judged; src/session has the same list. */
static const char *const markers[] = {
  "holdfast.toml", "devenv.nix", "flake.nix", "shell.nix", ".envrc", "devbox.json", ".flox", "mise.toml", ".mise.toml", "pixi.toml", "environment.yml",
};

static bool has_marker(const char *directory) {
  char path[DIRECTORY_BYTES + 32];
  const char *base = strcmp(directory, "/") == 0 ? "" : directory;
  for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
    snprintf(path, sizeof path, "%s/%s", base, markers[i]);
    if (access(path, F_OK) == 0) return true;
  }
  return false;
}

bool project_find(const char *physical, char out[DIRECTORY_BYTES]) {
  size_t length = strlen(physical);
  if (length == 0 || length >= DIRECTORY_BYTES) return false;
  memcpy(out, physical, length + 1);
  while (!has_marker(out)) {
    char *slash = strrchr(out, '/');
    if (slash == NULL || strcmp(out, "/") == 0) return false;
    slash[slash == out] = '\0'; /* above "/a" is "/" */
  }
  return true;
}

/* The command line tool lies beside this program, whichever link or PATH led here. */
static const char *find_tool(char path[DIRECTORY_BYTES]) {
  static const char name[] = "/holdfast.cjs";
  ssize_t length = readlink("/proc/self/exe", path, DIRECTORY_BYTES - sizeof name);
  if (length <= 0) return "holdfast";
  path[length] = '\0';
  char *slash = strrchr(path, '/');
  if (slash == NULL) return "holdfast";
  memcpy(slash, name, sizeof name);
  return access(path, X_OK) == 0 ? path : "holdfast";
}

/* Runs between fork and exec. Nothing of the caller's may live on in the environment that is opened: 3 and up are closed. */
static _Noreturn void become_tool(const char *tool, const char *directory, const sigset_t *mask) {
  int null = open("/dev/null", O_RDWR);
  union { const char *in; char *out; } words[] = {{.in = "holdfast"}, {.in = "open"}, {.in = "--project"}, {.in = directory}};
  char *argv[] = {words[0].out, words[1].out, words[2].out, words[3].out, NULL};
  bool closed = (fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) != 0; /* only our own placeholder has that mark */
  dup2(null, STDIN_FILENO);
  if (closed) dup2(null, STDERR_FILENO);
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

static bool judge(int status, const char *directory) {
  char hint[256], name[16];
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  snprintf(hint, sizeof hint, "try it by hand with 'holdfast open --project DIR'; 'holdfast doctor' checks the installation");
  if (WIFSIGNALED(status)) say(hint, "cannot open the session of '%s': 'holdfast open' died of %s", directory, signal_name(WTERMSIG(status), name));
  else if (WEXITSTATUS(status) == EXIT_NOT_FOUND) say("install holdfast and node, or put them on the PATH", "cannot open the session of '%s': 'holdfast' was not found", directory);
  else say(hint, "cannot open the session of '%s': 'holdfast open' ended with status %d", directory, WEXITSTATUS(status));
  return false;
}

bool project_open(const char *directory) {
  static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
  char path[DIRECTORY_BYTES];
  const char *tool = find_tool(path);
  struct sigaction plain = {.sa_handler = SIG_DFL}, now;
  sigset_t watched, before;

  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaction(SIGCHLD, &plain, NULL); /* ignored, it would take the child's status away */
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
    if (sigaction(deadly[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&watched, deadly[i]);
  sigprocmask(SIG_BLOCK, &watched, &before);
  pid_t child = fork();
  if (child == 0) become_tool(tool, directory, &before);
  if (child < 0) say(NULL, "cannot open the session of '%s': fork: %s", directory, strerror(errno));
  bool opened = child > 0 && judge(await_tool(child, &watched), directory);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return opened;
}
