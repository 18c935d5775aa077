/* Between JS values and the plain C below. Every exported function returns a number: >= 0, or -errno; src/native.ts makes errors. */
#ifndef HOLDFAST_ADDON_H
#define HOLDFAST_ADDON_H

#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_ARGUMENTS = 13 };

/* Reads up to MAX_ARGUMENTS; the missing ones are `undefined`. */
void arguments_of(napi_env env, napi_callback_info info, napi_value values[MAX_ARGUMENTS]);
int32_t int_of(napi_env env, napi_value value);
/* The bytes of a Buffer or typed array, and their count in bytes; NULL for anything else. Borrowed from JS. */
void *bytes_of(napi_env env, napi_value value, size_t *bytes);
/* A path or address as a C string: copies a Buffer into `into` and ends it. False: too long, or a NUL inside. */
bool text_of(napi_env env, napi_value value, char *into, size_t capacity);
napi_value number(napi_env env, int64_t value);

void export_function(napi_env env, napi_value exports, const char *name, napi_callback function);
void export_sockets(napi_env env, napi_value exports);
void export_processes(napi_env env, napi_value exports);
void export_stamps(napi_env env, napi_value exports);
void export_poller(napi_env env, napi_value exports);

#endif
