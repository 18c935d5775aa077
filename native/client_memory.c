#include "client_memory.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 32768 /* pages that are never touched cost nothing */, ALIGNMENT = 16 };

ASIDE static _Alignas(ALIGNMENT) char block[BLOCK_BYTES];
static size_t used;

/* Rounded up by a blank word, so that neighbours are never closer than one. */
static size_t rounded(size_t bytes) { return (bytes + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1); }

char *memory_room(size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  extern void __lsan_ignore_object(void *);
  char *room = malloc(bytes); /* whose bounds are watched */
  __lsan_ignore_object(room); /* it is given back by the process's end */
  return room;
#else
  return bytes < BLOCK_BYTES - used ? block + used : malloc(bytes);
#endif
}

void memory_keep(const char *room) {
  if (room == block + used) used += rounded(strlen(room) + 1);
}

void *memory_take(size_t bytes) {
  char *room = memory_room(rounded(bytes));
  if (room == block + used) used += rounded(bytes);
  return room;
}
