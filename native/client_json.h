/* A JSON object, written piece by piece. Out of memory: nothing more is added, and json_text() is NULL. */
#ifndef HOLDFAST_CLIENT_JSON_H
#define HOLDFAST_CLIENT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
  char *bytes; /* malloc'd; whoever made the object frees it */
  size_t length, room;
  bool failed, needs_comma;
};

/* `name` is NULL inside a list. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *text);
/* Bytes that are not UTF-8 are written as the character of their number, so that none is lost and the file stays valid. */
void json_bytes(struct json *json, const char *name, const void *bytes, size_t count);
void json_number(struct json *json, const char *name, uint64_t number);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

#endif
