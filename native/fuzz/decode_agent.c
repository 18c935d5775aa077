/* Fuzz target: what an agent could send, through wire_decode_header() and wire_decode_agent(). scripts/fuzz.sh builds and runs it. */
#include <stdlib.h>
#include <string.h>

#include "render.h"

static FILE *sink;

static void must(bool truth) {
  if (!truth) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct wire_header header;
  struct wire_agent_frame frame;

  if (sink == NULL && (sink = fopen("/dev/null", "w")) == NULL) abort();
  if (size < WIRE_HEADER_BYTES || wire_decode_header(data, &header) != 0) return 0;
  must(header.fd_count <= 1 && header.body_bytes <= 16777216);
  size_t body_bytes = size - WIRE_HEADER_BYTES;
  /* A length that is true reaches the decoder more often than one that must be guessed; the lie was judged above. */
  header.body_bytes = (uint32_t)body_bytes;
  /* A block of exactly the body, so that one byte too far is seen. */
  uint8_t *body = malloc(body_bytes == 0 ? 1 : body_bytes);
  must(body != NULL);
  memcpy(body, data + WIRE_HEADER_BYTES, body_bytes);
  if (wire_decode_agent(&header, body, &frame) == 0) {
    must((uint8_t)frame.kind == header.kind);
    render_agent_frame(sink, &header, &frame);
  }
  free(body);
  return 0;
}
