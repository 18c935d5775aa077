#include "stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  SECOND_NS = 1000000000,
  /* The clock of files moves with the timer tick, 10 ms at most. */
  TICK_NS = 50000000,
};

static int64_t ns(int64_t seconds, int64_t nanoseconds) { return seconds * SECOND_NS + nanoseconds; }

static struct stamp look(const char *path) {
  struct statx facts; /* as in process.c */
  if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BASIC_STATS, &facts) < 0) return (struct stamp){.device = -errno};
  return (struct stamp){
    .device = ((int64_t)facts.stx_dev_major << 32) | facts.stx_dev_minor, .inode = (int64_t)facts.stx_ino, .size = (int64_t)facts.stx_size,
    .modified_ns = ns(facts.stx_mtime.tv_sec, facts.stx_mtime.tv_nsec), .changed_ns = ns(facts.stx_ctime.tv_sec, facts.stx_ctime.tv_nsec),
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
      now = ns(time.tv_sec, time.tv_nsec);
    }
    stamps[i] = is_settled(&stamp, now) ? stamp : (struct stamp){.device = 0};
    moved[found++] = (int32_t)i;
  }
  return found;
}
