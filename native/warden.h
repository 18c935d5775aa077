/* The warden: a process between the agent and one target, where no cgroup can hold what the target starts. It is the subreaper
 * of all of that (PR_SET_CHILD_SUBREAPER), so nothing leaves it by setsid or by forking twice, and it ends all of it when told
 * to, or when the agent is gone. DESIGN section 4 "Ending".
 *
 * Agent and warden share a SOCK_SEQPACKET pair: `struct warden_report` one way, one byte the other way (a signal number for
 * everything that is held; WARDEN_KILL: end it all, whatever it forks meanwhile). Its end is the agent's. */
#ifndef HOLDFAST_WARDEN_H
#define HOLDFAST_WARDEN_H

#include <stdint.h>

#include "process.h"
#include "spawn.h"

enum { WARDEN_KILL = 255, WARDEN_LIMIT_BYTES = 56 /* a small number and two large ones, with blanks */ };
enum warden_news { WARDEN_STARTED = 1, WARDEN_FAILED = 2, WARDEN_CHANGE = 3, WARDEN_EMPTY = 4 };

struct warden_report {
  uint32_t news;
  uint32_t step;
  int32_t error;
  int32_t pid;
  struct process_change change; /* of the target alone */
  char subject[SPAWN_SUBJECT_BYTES]; /* sent only with WARDEN_FAILED */
};

/* `runner-exec __warden CONTROL TERMINAL TERMINAL_FD LIMITS PROGRAM ARGV0 [ARG…]`; returns the exit status. `argv` begins at CONTROL
 * and has a writable slot in front of ARGV0. LIMITS: the target's, each as "RESOURCE SOFT HARD ". */
int warden_main(int argc, char **argv);

struct warded {
  pid_t warden;
  int control; /* the caller owns it; non-blocking */
};

/* As spawn_target(), under a warden that is started from `warden_program` (absolute). Blocks until the target's exec has succeeded
 * or failed. The warden is a child of the caller; the target is not. */
int warden_spawn(const struct spawn_request *request, const char *warden_program, struct spawn_result *result, struct warded *warded);

#endif
