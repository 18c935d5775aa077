/* Creates a target: vfork semantics (the caller's memory is shared until exec, so the cost does not grow with the heap), every
 * attribute explicit, every failure named by step. docs/protocol.md §5 lists the steps. Only async-signal-safe calls in the child. */
#ifndef HOLDFAST_SPAWN_H
#define HOLDFAST_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol.h"

enum { SPAWN_MAX_LIMITS = 32 };

struct spawn_limit {
  int resource;
  uint64_t soft, hard; /* UINT64_MAX: infinity */
};

/* Everything is borrowed. `argv` must have one writable slot in front of argv[0] (for `sh`, when a script has no `#!`). */
struct spawn_request {
  const char *program;     /* with a slash: relative to the target's directory; without: looked up in search_path */
  const char *search_path; /* PATH of the target; NULL: it has none, and the system's default is used */
  char **argv;
  char **envp;
  const char *cwd;  /* absolute; NULL: use cwd_fd */
  bool cwd_or_root; /* a cwd that cannot be entered is no failure: the target is in / */
  int cwd_fd;       /* -1, or a directory */
  const int *fds;   /* fds[i] becomes numbers[i]; all other descriptors are closed */
  const uint32_t *numbers;
  size_t fd_count;
  const struct spawn_limit *limits;
  size_t limit_count;
  uint64_t ignored; /* bit N-1: signal N starts ignored; all others start at their default */
  uint32_t umask;
  bool nice_set;
  int nice;
  uint8_t terminal; /* enum wire_terminal */
  uint32_t terminal_fd;
  /* The caller's descriptors, directory, umask and nice value are the target's already: only group or session, terminal, limits
   * and signals are set. For the warden, which the agent has started with all of them. */
  bool inherited;
  int cgroup_fd; /* -1, or an O_PATH/O_DIRECTORY descriptor of the cgroup v2 that the target is born in */
};

/* As many as a request passes, and one of the warden's. */
enum { SPAWN_SUBJECT_BYTES = 4096, SPAWN_MAX_FDS = WIRE_MAX_FDS + 1 };

struct spawn_result {
  pid_t pid;
  int pidfd; /* the caller owns it; -1 where the kernel gives none */
  uint8_t step; /* enum wire_step; 0: exec succeeded */
  int error;    /* errno of that step */
  char subject[SPAWN_SUBJECT_BYTES]; /* what failed: a path, a number; NUL-terminated */
};

/* Returns when exec has succeeded (0) or failed (-1, with step, error and subject; nothing is left behind). */
int spawn_target(const struct spawn_request *request, struct spawn_result *result);

#endif
