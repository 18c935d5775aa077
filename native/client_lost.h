/* What is left to do for a target whose agent is gone: it ends too, and the pidfd may still tell how. */
#ifndef HOLDFAST_CLIENT_LOST_H
#define HOLDFAST_CLIENT_LOST_H

#include "client_ending.h"

/* Kills the target's process group if the target is alive, and fills in its wait status where the kernel gives it. */
void lost_settle(struct ending *ending);

#endif
