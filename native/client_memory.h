/* Memory of the one request that this process makes: taken, and given back by the process's end. A small static block comes first, since
 * the first malloc(3) of a process costs five system calls and three page faults, a tenth of what a whole call costs. */
#ifndef HOLDFAST_CLIENT_MEMORY_H
#define HOLDFAST_CLIENT_MEMORY_H

#include <stddef.h>

/* For large static arrays: what lies among them is apart from what every call touches, so that this is on few pages (a page fault costs
 * as much as ten system calls). The linker puts this section behind all of .bss. */
#ifdef __x86_64__
#define ASIDE __attribute__((section(".lbss")))
#else
#define ASIDE
#endif

/* Aligned for any type, and not to be freed; NULL when there is none. */
void *memory_take(size_t bytes);

/* Room for a text that is still to be written, `bytes` of it; what has been written there is kept by memory_keep(), which must come
 * before anything else is taken. NULL when there is none. */
char *memory_room(size_t bytes);
void memory_keep(const char *room);

#endif
