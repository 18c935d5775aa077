/* The conversation with the agent, from the request to its ending: sends, relays signals and terminals, stops and goes on with the
 * target. Knows nothing of messages to the user and of exit codes. */
#ifndef HOLDFAST_CLIENT_RELAY_H
#define HOLDFAST_CLIENT_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include "client_ending.h"
#include "client_options.h"
#include "client_pty.h"

struct relay_job {
  int socket, signals;  /* borrowed */
  const uint8_t *frame; /* the encoded request */
  size_t frame_bytes;
  const struct descriptors *descriptors;
  size_t fd_count;      /* of descriptors->held that go with the request */
  uint64_t ignored;     /* signals that the caller had ignored */
  const struct options *options;
  struct pty *pty;      /* .use may be PTY_NONE */
};

/* Returns when the request has an ending; the caller frees ending->large and closes ending->pidfd. */
void relay_run(const struct relay_job *job, struct ending *ending);

#endif
