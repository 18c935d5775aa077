/* The descriptors of the caller that ride on the request, and what is known of its 0, 1 and 2. */
#ifndef HOLDFAST_CLIENT_DESCRIPTORS_H
#define HOLDFAST_CLIENT_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client_jobserver.h"
#include "client_options.h"

struct descriptors {
  int held[WIRE_MAX_FDS + 1]; /* borrowed from the caller; one place more for the working directory */
  uint32_t numbers[WIRE_MAX_FDS];
  size_t count;
  bool open[3], terminal[3];
};

/* Must run before the client opens anything: a number that is closed now is the caller's mistake, later it could be ours.
 * Afterwards a closed 0, 1 or 2 is held by a placeholder, so that none of our own descriptors can take its place.
 * OPTIONS_GO_ON, or the status to exit with. */
int descriptors_collect(const struct options *options, const struct jobserver *jobserver, struct descriptors *out);

/* Is `fd` open in this process? */
bool descriptor_is_open(int fd);

/* Lets go of what the target has by now, so that whoever waits for the end of a pipe waits for the target alone. `filler` takes the
 * place of 0 and 1 (which stay when `keep_input`, `keep_output`); 2 is needed for our own last words. */
void descriptors_release(const struct descriptors *set, int filler, bool keep_input, bool keep_output);

/* Makes `fd` what the target gets as `number`, in place of what it would have got. */
void descriptors_replace(struct descriptors *set, uint32_t number, int fd);

#endif
