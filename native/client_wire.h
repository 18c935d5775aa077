/* Both directions of the client's connection: what is still to be sent, and frames out of what arrives. */
#ifndef HOLDFAST_CLIENT_WIRE_H
#define HOLDFAST_CLIENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

enum { OUTBOX_FRAMES_BYTES = 1024 };

struct outbox {
  const uint8_t *request; /* borrowed */
  size_t request_bytes, request_sent;
  const int *fds; /* borrowed; go with the first byte */
  size_t fd_count;
  uint8_t frames[OUTBOX_FRAMES_BYTES]; /* SIGNAL, SUSPEND, RESUME behind it */
  size_t frames_bytes;
  bool broken; /* the agent reads no more; it may still have an answer for us */
};

/* Queues a small frame. One that does not fit is dropped: an agent that reads nothing has enough of them. */
void outbox_signal(struct outbox *box, int signal);
void outbox_plain(struct outbox *box, enum wire_kind kind);

/* Sends what the socket takes now. 0, or -errno of an error that no answer can follow. */
int outbox_flush(struct outbox *box, int socket);
bool outbox_is_empty(const struct outbox *box);

struct inbox {
  uint8_t *bytes; /* begins as somebody's buffer, and is left for a malloc'd block when a frame is larger: `grown` */
  size_t length, room;
  bool grown;
  int given; /* a descriptor that has arrived and belongs to no frame yet, GIVEN_NONE or GIVEN_LOST */
};

/* Reads once. 1: something arrived; 0: nothing yet; -ENODATA: end of the connection; or another -errno. */
int inbox_receive(struct inbox *box, int socket);

/* The first whole frame: 1 and *out, whose views point into box->bytes until inbox_drop(); 0: not there yet; -EPROTO. */
int inbox_next(const struct inbox *box, struct wire_header *header, struct wire_agent_frame *out);
void inbox_drop(struct inbox *box, const struct wire_header *header);

#endif
