/* The child's half of a spawn, from the clone to the exec. It shares its parent's memory: only async-signal-safe calls. */
#ifndef HOLDFAST_SPAWN_CHILD_H
#define HOLDFAST_SPAWN_CHILD_H

#include "spawn.h"

enum { LAST_SIGNAL = 64 };

/* What parent and child share. The child writes `result`; the parent reads it once clone has returned, which vfork semantics
 * put after the child's exec or exit. */
struct child {
  const struct spawn_request *request;
  struct spawn_result *result;
  pid_t parent;
  uint64_t disposed; /* bit N-1: what signal N does has to be set; the kernel has made all others SIG_DFL */
};

/* As the kernel has it. By number: the C library keeps 32 and 33 to itself and would refuse to reset them. */
struct disposition { void (*handler)(int); unsigned long flags; void (*restorer)(void); uint64_t mask; };

/* Runs the request to its exec. Never returns. */
int spawn_child(void *child);

/* Looks the program up and executes it (spawn_program.c). */
_Noreturn void spawn_program(struct child *child);

/* Ends the child, and says by which step. `subject` may be NULL: what stands in the result already is kept. */
_Noreturn void spawn_fail(struct child *child, enum wire_step step, int error, const char *subject);

#endif
