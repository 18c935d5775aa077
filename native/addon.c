/* The addon's door: argument conversion shared by the addon_*.c files, and registration. */
#include "addon.h"

#include <string.h>

void arguments_of(napi_env env, napi_callback_info info, napi_value values[MAX_ARGUMENTS]) {
  size_t count = MAX_ARGUMENTS;
  napi_get_cb_info(env, info, &count, values, NULL, NULL);
}

int32_t int_of(napi_env env, napi_value value) {
  int32_t result = -1;
  napi_get_value_int32(env, value, &result);
  return result;
}

void *bytes_of(napi_env env, napi_value value, size_t *bytes) {
  bool is_typed = false;
  void *data = NULL;
  *bytes = 0;
  napi_is_typedarray(env, value, &is_typed);
  if (!is_typed) return NULL;
  napi_typedarray_type type;
  size_t length = 0;
  napi_get_typedarray_info(env, value, &type, &length, &data, NULL, NULL);
  switch (type) {
    case napi_int16_array: case napi_uint16_array: length *= 2; break;
    case napi_int32_array: case napi_uint32_array: case napi_float32_array: length *= 4; break;
    case napi_float64_array: case napi_bigint64_array: case napi_biguint64_array: length *= 8; break;
    default: break;
  }
  *bytes = length;
  return length == 0 ? (void *)"" : data; /* an empty array has no data pointer */
}

bool text_of(napi_env env, napi_value value, char *into, size_t capacity) {
  size_t bytes;
  const void *data = bytes_of(env, value, &bytes);
  if (data == NULL || bytes >= capacity || memchr(data, '\0', bytes) != NULL) return false;
  memcpy(into, data, bytes);
  into[bytes] = '\0';
  return true;
}

napi_value number(napi_env env, int64_t value) {
  napi_value result;
  napi_create_int64(env, value, &result);
  return result;
}

void export_function(napi_env env, napi_value exports, const char *name, napi_callback function) {
  napi_value value;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, function, NULL, &value);
  napi_set_named_property(env, exports, name, value);
}

NAPI_MODULE_INIT() {
  export_sockets(env, exports);
  export_processes(env, exports);
  export_stamps(env, exports);
  export_poller(env, exports);
  return exports;
}
