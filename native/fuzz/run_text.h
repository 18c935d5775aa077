/* A RUN request from its text in test/vectors/frames.txt. */
#ifndef HOLDFAST_RUN_TEXT_H
#define HOLDFAST_RUN_TEXT_H

#include "../wire.h"

enum { RUN_TEXT_MOST = 256 };

struct run_text {
  struct wire_run request; /* borrows all that follows */
  uint32_t fds[RUN_TEXT_MOST];
  struct wire_limit limits[RUN_TEXT_MOST];
  const char *argv[RUN_TEXT_MOST], *env[RUN_TEXT_MOST];
  char *words; /* a copy of the text, taken apart */
};

/* False when it does not understand a word. Call run_text_free() in either case. */
bool run_text_parse(struct run_text *run, const char *text);
void run_text_free(struct run_text *run);

#endif
