/* A decoded frame of an agent as one line of text, in the notation of test/vectors/frames.txt. Reads every byte of every view. */
#ifndef HOLDFAST_RENDER_H
#define HOLDFAST_RENDER_H

#include <stdio.h>

#include "../wire.h"

void render_agent_frame(FILE *to, const struct wire_header *header, const struct wire_agent_frame *frame);

#endif
