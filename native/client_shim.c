#include "client_shim.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_directory.h"
#include "client_memory.h"
#include "client_messages.h"
#include "client_open.h"
#include "client_process.h"
#include "shim.h"

enum { DEEPEST_ANCESTOR = 4096, COMMAND_BYTES = 8192 };
static const char own_name[] = "runner-exec", default_path[] = "/usr/local/bin:/usr/bin:/bin";

static bool is_same_file(const char *path, const char *other) {
  struct stat a, b;
  return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Two names are told apart: that of the file that is executed, and that by which it was. A copy under another name has but one, and
 * is runner-exec; only a link has two. The kernel's word for the second (AT_EXECFN) cannot be made up by a caller, as argv[0] can; but
 * in a script's first line it is the script, and argv[0] is what the script says. */
const char *shim_tool(char **argv) {
  union { unsigned long value; const char *path; } executed = {.value = getauxval(AT_EXECFN)};
  const char *path = executed.path;
  if (argv[0] == NULL || path == NULL || strcmp(shim_base(path), own_name) == 0) return NULL;
  if (!is_same_file(path, "/proc/self/exe")) path = strchr(argv[0], '/') != NULL && is_same_file(argv[0], "/proc/self/exe") ? argv[0] : NULL;
  char *own = memory_room(DIRECTORY_BYTES); /* on the stack it would cost every call a page */
  ssize_t length = path == NULL || own == NULL ? -1 : readlink("/proc/self/exe", own, DIRECTORY_BYTES - 1);
  if (length < 0) return NULL;
  own[length] = '\0';
  const char *tool = shim_base(path);
  return strcmp(tool, shim_base(own)) == 0 || strcmp(tool, own_name) == 0 ? NULL : tool;
}

bool shim_serves_holdfast(char **argv) {
  char tool[DIRECTORY_BYTES];
  return argv[0] != NULL && argv[1] != NULL && is_same_file(argv[1], project_tool(tool));
}

/* The agent's own command line ends in "__runner-agent", what its files begin with, and a number (enter.c). */
static bool is_agent_of(pid_t pid, const char *id) {
  static const char marker[] = "__runner-agent";
  char path[64], words[COMMAND_BYTES];
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  size_t length = process_read_file(path, words, sizeof words), at = 0;
  while (at < length && strcmp(words + at, marker) != 0) at += strlen(words + at) + 1;
  at += sizeof marker;
  return at < length && strcmp(shim_base(words + at), id) == 0;
}

/* A target stays below its agent, however it was started: the agent takes in the orphans of its session. The session is not asked, since
 * a target need not know its runtime directory, and would open another one in another. Where no agent is seen (another pid namespace)
 * the session runs the tool, and passes over this shim. */
bool shim_is_inside(const char *id) {
  pid_t at = getppid();
  for (int depth = 0; at > 1 && depth < DEEPEST_ANCESTOR; depth++) {
    struct process_place place;
    if (!process_place(at, &place)) return false;
    /* The agent leads its group. */
    if (place.group == at && is_agent_of(at, id)) return true;
    at = place.parent;
  }
  return false;
}

/* As execvp(3) would: a file that may not be run is no end of the search, and one without `#!` is sh's. Returns errno. */
static int exec_next(const char *tool, char **argv) {
  extern char **environ;
  char path[DIRECTORY_BYTES];
  const char *from = getenv("PATH");
  int refused = ENOENT;
  for (from = from == NULL ? default_path : from;; from++) {
    int part = (int)strcspn(from, ":");
    int length = snprintf(path, sizeof path, "%.*s/%s", part == 0 ? 1 : part, part == 0 ? "." : from, tool);
    if (length < (int)sizeof path && shim_look_at(path) == SHIM_OTHER && !is_same_file(path, "/proc/self/exe")) {
      execve(path, argv, environ);
      if (errno == ENOEXEC) {
        union { const char *in; char *out; } shell = {.in = "sh"};
        char *own = argv[0];
        argv[-1] = shell.out;
        argv[0] = path;
        execve("/bin/sh", argv - 1, environ);
        argv[0] = own;
      }
      if (errno == EACCES || errno == ENOEXEC) refused = errno;
      else if (errno != ENOENT && errno != ENOTDIR) return errno;
    }
    from += part;
    if (*from == '\0') return refused;
  }
}

int shim_step_aside(const char *tool, char **argv, const char *why) {
  size_t words = 0;
  while (argv[words] != NULL) words++;
  char **room = malloc((words + 2) * sizeof *room); /* one place in front, for the shell of a script without '#!' */
  if (room == NULL) return say(NULL, "out of memory"), EXIT_OURS;
  memcpy(room + 1, argv, (words + 1) * sizeof *room);
  int error = exec_next(tool, room + 1);
  free(room);
  if (error == ENOENT) say("install it, or put the directory that has it on the PATH; 'holdfast shim list' shows shims", "cannot run '%s': %s, and the PATH has no other '%s'", tool, why, tool);
  else say(NULL, "cannot run '%s': %s", tool, strerror(error));
  return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUNNABLE;
}
