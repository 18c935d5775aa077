/* GNU make's job server, as the make that calls us announces it in MAKEFLAGS (make manual, "Sharing Job Slots"). */
#ifndef HOLDFAST_CLIENT_JOBSERVER_H
#define HOLDFAST_CLIENT_JOBSERVER_H

#include <stdbool.h>

#include "client_options.h"

struct jobserver {
  bool there;              /* MAKEFLAGS, MFLAGS and MAKELEVEL are to be passed */
  int read_fd, write_fd;   /* pipe style: borrowed from make; -1: none, or fifo style */
};

/* OPTIONS_GO_ON, or the status to exit with: `--jobserver` was asked for and there is none. */
int jobserver_find(const struct options *options, struct jobserver *out);

#endif
