/* Whether files are as they were when last looked at, told by stat(2) alone: for all files of a session in one call, since it is
 * asked before each command. */
#ifndef HOLDFAST_STAMP_H
#define HOLDFAST_STAMP_H

#include <stddef.h>
#include <stdint.h>

/* All zero: never looked at. Of what cannot be looked at, `device` is -errno and all else zero. */
struct stamp {
  int64_t device, inode, size, modified_ns, changed_ns;
};

/* Looks at the `count` NUL-ended paths in `block` and brings their stamps up to date. Of the last `places` of them, only which file it is
 * matters, not what is in it. Returns how many have moved since, and writes their numbers into `moved`, which has room for all. */
size_t stamps_renew(const char *block, size_t count, size_t places, struct stamp *stamps, int32_t *moved);

#endif
