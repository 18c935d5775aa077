/* Signals of the client: which it relays, how it waits for them without a race, how it stops and dies like its target. */
#ifndef HOLDFAST_CLIENT_SIGNALS_H
#define HOLDFAST_CLIENT_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Bit N-1 is set for each signal that the caller had ignored when it started us. */
uint64_t signals_ignored(void);

static inline bool signal_in(uint64_t set, int signal) { return (set >> (signal - 1) & 1) != 0; }

/* Blocks the relayed signals and returns a non-blocking signalfd for them (ours), or -errno. Also blocked, and not reported: those
 * that a relay of terminals would trip over (SIGPIPE, SIGTTIN, SIGTTOU). */
int signals_watch(void);

/* Closes `fd` and lets signals act on the client again. */
void signals_unwatch(int fd);

/* Lets those act on the client again that it would have relayed; what its own writing brings about stays blocked. */
void signals_let_in(void);

/* The next signal, or 0. */
int signals_next(int fd);

/* Stops this process as `signal` stops one; returns when it goes on. False: the kernel has discarded the stop (a process group that
 * no shell looks after). */
bool signals_stop_self(int signal);

/* Dies of `signal` so that the parent sees it, without a core file of ours. */
_Noreturn void signals_die(int signal);

const char *signal_name(int signal, char out[16]); /* "SIGTERM", "SIGRTMIN+3" */

#endif
