/* The session's guard process: see guard.c. */
#ifndef HOLDFAST_GUARD_H
#define HOLDFAST_GUARD_H

/* Runs the guard over the cgroup directory `cgroup`; returns the exit status. */
int guard_main(const char *cgroup);

#endif
