/* How a request ended, seen from the client: an answer of the agent, or the want of one. */
#ifndef HOLDFAST_CLIENT_ENDING_H
#define HOLDFAST_CLIENT_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct ending {
  enum ending_kind {
    ENDING_ANSWERED,    /* REFUSED, NOT_STARTED, EXITED, or SPAWNED for a detached job: `answer` */
    ENDING_LOST,        /* the connection broke: `error` */
    ENDING_INTERRUPTED, /* a signal ended the client before the target had started: `signal` */
    ENDING_OVERDUE,     /* the agent let the deadline pass without a word */
  } kind;
  struct wire_agent_frame answer; /* its views point into `large`, or into memory that stays */
  uint8_t *large; /* malloc'd, ours; NULL: it was not needed */
  bool spawned;
  uint32_t pid;
  uint64_t start_ns;
  int pidfd;  /* ours; -1: none */
  int signal;
  int early_signal; /* came before the target had started, and was not acted on; 0: none */
  int error;  /* errno; 0: the agent closed the connection */
  bool unread; /* the agent cannot have seen the request: it may be sent again */
  bool status_known;
  uint32_t wait_status; /* of a target whose agent is lost, where the kernel could tell */
};

#endif
