/* What /proc says of a process that a pidfd names. */
#ifndef HOLDFAST_CLIENT_PROCESS_H
#define HOLDFAST_CLIENT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads the beginning of a file, and ends it with a NUL. Returns its bytes; 0: nothing could be read. */
size_t process_read_file(const char *path, char *into, size_t room);

/* Its number as this process sees it: the agent's word for it may be of another pid namespace. 0: unseen from here, or reaped. */
pid_t process_number(int pidfd);

struct process_place {
  pid_t parent, group, session;
  char state; /* as proc(5) has it: 'Z' is a zombie */
};

/* Fields 3 to 6 of /proc/PID/stat. False: it cannot be told. */
bool process_place(pid_t pid, struct process_place *out);

/* Does a process of the group that it leads wait in read(2) for `terminal`, or did so when it was stopped? False also where that
 * cannot be seen: another pid namespace, or processes that may not be looked into (Yama's ptrace_scope). */
bool process_group_reads(int pidfd, int terminal);

/* Is one of the group that it leads stopped? False also where that cannot be seen. */
bool process_group_has_stopped(int pidfd);

#endif
