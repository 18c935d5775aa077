#include "client_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct json *json, const char *bytes, size_t count) {
  if (json->failed) return;
  if (json->length + count > json->room) {
    size_t room = (json->length + count) * 2 + 512;
    char *grown = realloc(json->bytes, room);
    if (grown == NULL) {
      json->failed = true;
      return;
    }
    json->bytes = grown;
    json->room = room;
  }
  memcpy(json->bytes + json->length, bytes, count);
  json->length += count;
}

static void put_text(struct json *json, const char *text) { put(json, text, strlen(text)); }

/* Length of the UTF-8 sequence at `at`; 0 when it is none. Overlong forms and surrogates are let through: no reader is harmed. */
static size_t sequence(const uint8_t *at, size_t left) {
  size_t length = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] >= 0xe0 && at[0] < 0xf0 ? 3 : at[0] >= 0xf0 && at[0] < 0xf5 ? 4 : 0;
  if (length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  return length;
}

static void put_quoted(struct json *json, const uint8_t *at, size_t left) {
  char escape[8];
  put_text(json, "\"");
  while (left > 0) {
    size_t length = sequence(at, left);
    if (at[0] == '"' || at[0] == '\\') (put_text(json, "\\"), put(json, (const char *)at, 1));
    else if (length == 0 || at[0] < 0x20) (snprintf(escape, sizeof escape, "\\u%04x", at[0]), put_text(json, escape));
    else put(json, (const char *)at, length);
    length += length == 0;
    at += length;
    left -= length;
  }
  put_text(json, "\"");
}

static void begin(struct json *json, const char *name) {
  if (json->needs_comma) put_text(json, ",");
  json->needs_comma = true;
  if (name == NULL) return;
  put_quoted(json, (const uint8_t *)name, strlen(name));
  put_text(json, ":");
}

void json_open(struct json *json, const char *name, char bracket) {
  begin(json, name);
  put(json, &bracket, 1);
  json->needs_comma = false;
}

void json_close(struct json *json, char bracket) {
  put(json, &bracket, 1);
  json->needs_comma = true;
}

void json_bytes(struct json *json, const char *name, const void *bytes, size_t count) {
  begin(json, name);
  put_quoted(json, bytes, count);
}

void json_string(struct json *json, const char *name, const char *text) { json_bytes(json, name, text, strlen(text)); }

void json_number(struct json *json, const char *name, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)number);
  begin(json, name);
  put_text(json, text);
}

void json_bool(struct json *json, const char *name, bool value) {
  begin(json, name);
  put_text(json, value ? "true" : "false");
}

void json_null(struct json *json, const char *name) {
  begin(json, name);
  put_text(json, "null");
}
