/* Processes: waiting, signalling, and the few attributes the agent sets on itself. No JS. Each returns >= 0, or -errno. */
#ifndef HOLDFAST_PROCESS_H
#define HOLDFAST_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Installs a SIGCHLD handler that makes the returned eventfd readable whenever a child ends, stops or continues. The descriptor
 * lives as long as the process; a second call returns the same one. */
int process_watch_children(void);

struct process_change {
  pid_t pid;
  int wait_status; /* as waitpid(2) gives it; WIFSTOPPED and WIFCONTINUED included */
  uint64_t user_us, system_us, max_rss_kib, minor_faults, major_faults, blocks_in, blocks_out, voluntary_switches, involuntary_switches;
};
/* The next change of child `which`, 0: of any, without waiting: 1 and *out, or 0 when there is none. It is taken, and an ended child
 * reaped. With `leaves_failed` one that has ended with an exit code other than 0 is left as it is, and 2 returned. */
int process_next_change(pid_t which, bool leaves_failed, struct process_change *out);

/* kill(2) to a process, or to a whole group. -ESRCH when there is nobody. */
int process_kill(pid_t pid, int signal);
int process_kill_group(pid_t pgid, int signal);

/* Field 22 of /proc/PID/stat: clock ticks from boot to the start of that process. -ENOENT: no such process. */
int64_t process_start_ticks(pid_t pid);

/* A cgroup v2 directory (any kind of descriptor of it) and its cgroup.events, open for reading: 2 while a process lives in it or beneath,
 * 1 when only cgroups are left beneath it, else 0. */
int process_cgroup_state(int directory, int events);

/* Ends this process by `signal` as the target's ending, without a core file of our own. Returns only when that failed. */
void process_die_by(int signal);

/* Orphaned descendants become children of this process (PR_SET_CHILD_SUBREAPER). */
int process_become_subreaper(void);

/* This process gets `signal` when the thread that made it ends (PR_SET_PDEATHSIG); 0: no more. */
int process_follow_parent(int signal);

#endif
