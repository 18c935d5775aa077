/* What /proc says of a process that a pidfd names. */
#ifndef HOLDFAST_CLIENT_PROCESS_H
#define HOLDFAST_CLIENT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Reads the beginning of a file as a string. False: nothing could be read. */
bool process_read_file(const char *path, char *into, size_t room);

/* Its number as this process sees it: the agent's word for it may be of another pid namespace. 0: unseen from here, or reaped. */
pid_t process_number(int pidfd);

/* Its parent; 0: it cannot be told. */
pid_t process_parent(pid_t pid);

/* Does a process of the group that it leads wait in read(2) for `terminal`, or did so when it was stopped? False also where that
 * cannot be seen: another pid namespace, or processes that may not be looked into (Yama's ptrace_scope). */
bool process_group_reads(int pidfd, int terminal);

#endif
