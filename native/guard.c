/* `runner-exec __guard CGROUP`: waits for the end of its standard input, whose other end only the agent holds, then ends whatever
 * lives in the session's cgroup and removes it, and runs the commands that it was told to run then: they end what is out of reach,
 * behind a wrapper. After an orderly end there is nothing left to do. CGROUP may be empty: there is none.
 *
 * A message on standard input: u32 length of the rest; u32 commands, each u32 words and the words, each with its NUL; u32 variables, and
 * those. Big-endian. The last whole one counts, without commands: nothing is to be run. A command is run when those before it failed. */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  TRIES = 1000, PAUSE_NS = 10 * 1000 * 1000, PATH_BYTES = 4096,
  COMMAND_TRIES = 2000, /* for so many pauses a command may take */
  FAR_NONE = 3,         /* src/wrap/far-script.ts */
  MOST_COMMANDS = 4,
  MOST_BYTES = 1 << 25, /* no environment that execve(2) takes is larger */
};

struct message {
  char *bytes;
  size_t length, room;
};

static void end_all(const char *cgroup) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/cgroup.kill", cgroup);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd == -1) return;
  if (write(fd, "1", 1) == -1) {} /* ENOENT: it was removed meanwhile */
  close(fd);
}

/* rmdir(2) from the leaves up; a cgroup holds no files that would have to go first. */
static void remove_tree(const char *cgroup) {
  DIR *directory = opendir(cgroup);
  if (directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char below[PATH_BYTES];
    if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if ((size_t)snprintf(below, sizeof below, "%s/%s", cgroup, entry->d_name) < sizeof below) remove_tree(below);
  }
  closedir(directory);
  rmdir(cgroup);
}

/* `bytes` of standard input; false at its end, or when there is no room. */
static bool take(struct message *message, size_t bytes) {
  if (bytes > MOST_BYTES) return false;
  if (message->room < bytes + 1) {
    char *more = realloc(message->bytes, bytes + 1);
    if (more == NULL) return false;
    message->bytes = more;
    message->room = bytes + 1;
  }
  for (message->length = 0; message->length < bytes;) {
    ssize_t n = read(STDIN_FILENO, message->bytes + message->length, bytes - message->length);
    if (n == 0 || (n == -1 && errno != EINTR)) return false;
    if (n > 0) message->length += (size_t)n;
  }
  message->bytes[bytes] = '\0'; /* so that a last word always ends */
  return true;
}

static uint32_t u32_at(const char *at) {
  const unsigned char *byte = (const unsigned char *)at;
  return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

/* A list of strings behind its count, as execve(2) wants it; *at goes behind it. NULL: it is not whole. */
static char **list_at(const struct message *message, size_t *at) {
  if (*at > message->length || message->length - *at < 4) return NULL;
  uint32_t count = u32_at(message->bytes + *at);
  *at += 4;
  if (count > message->length - *at) return NULL;
  char **list = calloc((size_t)count + 1, sizeof *list);
  for (uint32_t i = 0; list != NULL && i < count; i++) {
    if (*at >= message->length) return free(list), NULL;
    list[i] = message->bytes + *at;
    *at += strlen(list[i]) + 1;
  }
  return list;
}

/* Its exit code; -1: it could not be run, or took too long. */
static int run(char **words, char **variables) {
  int status = -1;
  pid_t pid = fork();
  if (pid == -1) return -1;
  if (pid == 0) {
    setsid();
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing == -1 || dup2(nothing, 0) == -1 || dup2(nothing, 1) == -1 || dup2(nothing, 2) == -1 || chdir("/") == -1) _exit(126);
    environ = variables; /* execvp(3) looks for the PATH in it */
    execvp(words[0], words);
    _exit(127);
  }
  for (int i = 0; i < COMMAND_TRIES; i++) {
    if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  kill(-pid, SIGKILL);
  return -1;
}

static void run_all(const struct message *message) {
  size_t at = 4;
  char **commands[MOST_COMMANDS] = {0}, **variables = NULL;
  uint32_t count = message->length < 4 ? 0 : u32_at(message->bytes);
  bool whole = count > 0 && count <= MOST_COMMANDS;
  for (uint32_t i = 0; whole && i < count; i++) whole = (commands[i] = list_at(message, &at)) != NULL && commands[i][0] != NULL;
  if (whole) variables = list_at(message, &at);
  for (uint32_t i = 0; variables != NULL && i < count; i++) {
    int code = run(commands[i], variables);
    if (code == 0 || code == FAR_NONE) break;
  }
  for (uint32_t i = 0; i < MOST_COMMANDS; i++) free(commands[i]);
  free(variables);
}

int guard_main(const char *cgroup) {
  struct message last = {0}, next = {0};
  for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, 0); /* every child of the agent has it set; this one is to stay */
  setsid();
  while (take(&next, 4) && take(&next, u32_at(next.bytes))) {
    struct message whole = next;
    next = last;
    last = whole;
  }
  for (int i = 0; i < TRIES && cgroup[0] != '\0' && access(cgroup, F_OK) == 0; i++) {
    end_all(cgroup);
    remove_tree(cgroup);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  run_all(&last);
  free(last.bytes);
  free(next.bytes);
  return 0;
}
