#include "client_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client_socket.h"

enum { IN_FLIGHT_TRIES = 400, IN_FLIGHT_NAP_MS = 5 };

static void queue(struct outbox *box, const uint8_t *frame, size_t bytes) {
  if (box->frames_bytes + bytes > sizeof box->frames) return;
  memcpy(box->frames + box->frames_bytes, frame, bytes);
  box->frames_bytes += bytes;
}

void outbox_signal(struct outbox *box, int signal) {
  uint8_t frame[9];
  queue(box, frame, wire_encode_signal(frame, signal));
}

void outbox_plain(struct outbox *box, enum wire_kind kind) {
  uint8_t frame[9];
  queue(box, frame, wire_encode_plain(frame, kind));
}

bool outbox_is_empty(const struct outbox *box) { return box->broken || (box->request_sent == box->request_bytes && box->frames_bytes == 0); }

/* ETOOMANYREFS: this user has too many descriptors in flight, as when an agent is slow to accept. That passes. */
static ssize_t send_request(const struct outbox *box, int socket) {
  bool first = box->request_sent == 0;
  for (int tries = 0;; tries++) {
    ssize_t sent = socket_send(socket, box->request + box->request_sent, box->request_bytes - box->request_sent, box->fds, first ? box->fd_count : 0);
    if (sent != -ETOOMANYREFS || tries == IN_FLIGHT_TRIES) return sent;
    struct timespec nap = {.tv_nsec = IN_FLIGHT_NAP_MS * 1000000L};
    nanosleep(&nap, NULL);
  }
}

int outbox_flush(struct outbox *box, int socket) {
  while (!outbox_is_empty(box)) {
    bool request = box->request_sent < box->request_bytes;
    ssize_t sent = request ? send_request(box, socket) : socket_send(socket, box->frames, box->frames_bytes, NULL, 0);
    if (sent == -EAGAIN) return 0;
    if (sent == -EPIPE || sent == -ECONNRESET) return box->broken = true, 0;
    if (sent < 0) return (int)sent;
    if (request) box->request_sent += (size_t)sent;
    else {
      box->frames_bytes -= (size_t)sent;
      memmove(box->frames, box->frames + sent, box->frames_bytes);
    }
  }
  return 0;
}

/* Room for the frame that has begun. Its header has been judged before, so its length is within the caps. */
static bool make_room(struct inbox *box) {
  size_t wanted = box->length < WIRE_HEADER_BYTES ? 0 : WIRE_HEADER_BYTES + (size_t)wire_u32(box->bytes);
  if (box->room >= wanted) return true;
  uint8_t *bytes = realloc(box->grown ? box->bytes : NULL, wanted);
  if (bytes == NULL) return false;
  if (!box->grown) memcpy(bytes, box->bytes, box->length);
  box->bytes = bytes;
  box->room = wanted;
  box->grown = true;
  return true;
}

int inbox_receive(struct inbox *box, int socket) {
  if (!make_room(box)) return -ENOMEM;
  ssize_t got = socket_receive(socket, box->bytes + box->length, box->room - box->length, &box->given);
  if (got == 0) return -ENODATA;
  if (got < 0) return got == -EAGAIN ? 0 : (int)got;
  box->length += (size_t)got;
  return 1;
}

int inbox_next(const struct inbox *box, struct wire_header *header, struct wire_agent_frame *out) {
  if (box->length < WIRE_HEADER_BYTES) return 0;
  if (wire_decode_header(box->bytes, header) < 0) return -EPROTO;
  if (box->length - WIRE_HEADER_BYTES < header->body_bytes) return 0;
  return wire_decode_agent(header, box->bytes + WIRE_HEADER_BYTES, out) < 0 ? -EPROTO : 1;
}

void inbox_drop(struct inbox *box, const struct wire_header *header) {
  size_t bytes = WIRE_HEADER_BYTES + header->body_bytes;
  box->length -= bytes;
  memmove(box->bytes, box->bytes + bytes, box->length);
}
