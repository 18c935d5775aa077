#include "stamp.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
  SECOND_NS = 1000000000,
  /* The clock of files moves with the timer tick, 10 ms at most. */
  TICK_NS = 50000000,
};

static int64_t ns(struct timespec time) { return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec; }

static struct stamp look(const char *path) {
  struct stat facts;
  if (stat(path, &facts) < 0) return (struct stamp){.device = -errno};
  return (struct stamp){
    .device = (int64_t)facts.st_dev, .inode = (int64_t)facts.st_ino, .size = (int64_t)facts.st_size, .modified_ns = ns(facts.st_mtim),
    .changed_ns = ns(facts.st_ctim),
  };
}

/* A second change within the same tick would leave the same stamp: one so fresh is not kept, and the file is looked at again. Where
 * the file system counts in seconds, a tick is two of them. */
static bool is_settled(const struct stamp *stamp, int64_t now) {
  int64_t tick = stamp->changed_ns % SECOND_NS == 0 ? 2 * (int64_t)SECOND_NS : TICK_NS;
  return stamp->changed_ns + tick < now;
}

size_t stamps_renew(const char *block, size_t count, size_t places, struct stamp *stamps, int32_t *moved) {
  size_t found = 0;
  int64_t now = 0;
  for (size_t i = 0; i < count; i++, block += strlen(block) + 1) {
    struct stamp stamp = look(block);
    if (i >= count - places) stamp.size = stamp.modified_ns = stamp.changed_ns = 0;
    if (memcmp(&stamp, &stamps[i], sizeof stamp) == 0) continue;
    if (now == 0) {
      struct timespec time;
      clock_gettime(CLOCK_REALTIME, &time);
      now = ns(time);
    }
    stamps[i] = is_settled(&stamp, now) ? stamp : (struct stamp){.device = 0};
    moved[found++] = (int32_t)i;
  }
  return found;
}
