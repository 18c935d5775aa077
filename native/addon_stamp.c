/* stamp.h for JS. */
#include <errno.h>
#include <string.h>

#include "addon.h"
#include "stamp.h"

static size_t strings_in(const char *block, size_t bytes) {
  size_t count = 0;
  for (const char *at = block, *end = block + bytes; at < end && (at = memchr(at, '\0', (size_t)(end - at))) != NULL; at++) count++;
  return count;
}

/* renewStamps(paths, places, stamps: BigInt64Array(5 each), moved: Int32Array): how many moved. Each path ends with a NUL. */
static napi_value js_renew_stamps(napi_env env, napi_callback_info info) {
  napi_value argument[MAX_ARGUMENTS];
  size_t bytes, stamp_bytes, moved_bytes;
  arguments_of(env, info, argument);
  const char *block = bytes_of(env, argument[0], &bytes);
  int32_t places = int_of(env, argument[1]);
  struct stamp *stamps = bytes_of(env, argument[2], &stamp_bytes);
  int32_t *moved = bytes_of(env, argument[3], &moved_bytes);
  if (block == NULL || stamps == NULL || moved == NULL) return number(env, -EINVAL);
  size_t count = moved_bytes / sizeof *moved;
  if (places < 0 || (size_t)places > count || stamp_bytes != count * sizeof *stamps || strings_in(block, bytes) != count) return number(env, -EINVAL);
  return number(env, (int64_t)stamps_renew(block, count, (size_t)places, stamps, moved));
}

void export_stamps(napi_env env, napi_value exports) { export_function(env, exports, "renewStamps", js_renew_stamps); }
