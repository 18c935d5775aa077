/* One RUN frame out of all that the caller asked for and is. */
#ifndef HOLDFAST_CLIENT_REQUEST_H
#define HOLDFAST_CLIENT_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "client_descriptors.h"
#include "client_directory.h"
#include "client_environment.h"
#include "client_options.h"

struct request {
  const struct options *options;
  struct descriptors *descriptors;
  const struct directory *directory;
  const struct changes *changes;
  uint64_t ignored;
  uint8_t terminal;     /* enum wire_terminal */
  uint32_t terminal_fd; /* number in the target */
  /* Made by request_encode(): */
  uint8_t *frame;
  size_t frame_bytes;
  size_t fd_count; /* of descriptors->held that ride on it, the directory's included */
};

/* OPTIONS_GO_ON, or the status to exit with. */
int request_encode(struct request *request);

#endif
