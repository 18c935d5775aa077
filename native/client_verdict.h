/* From the ending of a request to what the user reads and what the client exits with: the one place that decides. */
#ifndef HOLDFAST_CLIENT_VERDICT_H
#define HOLDFAST_CLIENT_VERDICT_H

#include "client_ending.h"
#include "client_options.h"
#include "client_session.h"

struct verdict {
  int status; /* to exit with */
  int signal; /* to die by instead; 0: none */
};

/* Writes at most one message, and none for a target that ended by itself. */
struct verdict verdict_of(const struct ending *ending, const struct session *session, const struct options *options);

#endif
