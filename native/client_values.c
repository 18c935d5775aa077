#include "client_values.h"

#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

enum { FRACTION_SCALE = 1000000 };

static const struct { const char *name; int resource; } limit_names[] = {
  {"as", RLIMIT_AS}, {"core", RLIMIT_CORE}, {"cpu", RLIMIT_CPU}, {"data", RLIMIT_DATA}, {"fsize", RLIMIT_FSIZE}, {"locks", RLIMIT_LOCKS},
  {"memlock", RLIMIT_MEMLOCK}, {"msgqueue", RLIMIT_MSGQUEUE}, {"nice", RLIMIT_NICE}, {"nofile", RLIMIT_NOFILE}, {"nproc", RLIMIT_NPROC},
  {"rss", RLIMIT_RSS}, {"rtprio", RLIMIT_RTPRIO}, {"rttime", RLIMIT_RTTIME}, {"sigpending", RLIMIT_SIGPENDING}, {"stack", RLIMIT_STACK},
};

/* Reads digits from *text on; false when there is none, or the number is above `most`. */
static bool digits(const char **text, uint64_t most, uint64_t *out) {
  const char *at = *text;
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (at == *text) return false;
  *text = at;
  *out = value;
  return true;
}

bool parse_number(const char *text, uint64_t most, uint64_t *out) { return digits(&text, most, out) && *text == '\0'; }

static uint64_t unit_ms(const char *unit) {
  static const struct { const char *name; uint64_t ms; } units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(unit, units[i].name) == 0) return units[i].ms;
  return 0;
}

bool parse_duration_ms(const char *text, uint32_t *out) {
  uint64_t whole = 0, millionths = 0;
  bool has_whole = digits(&text, UINT32_MAX, &whole), has_fraction = false;
  if (*text == '.') {
    uint64_t scale = FRACTION_SCALE;
    for (text++; *text >= '0' && *text <= '9'; text++, has_fraction = true)
      if ((scale /= 10) > 0) millionths += (uint64_t)(*text - '0') * scale;
  }
  uint64_t unit = unit_ms(text);
  if ((!has_whole && !has_fraction) || unit == 0) return false;
  uint64_t ms = whole * unit + (millionths * unit + FRACTION_SCALE - 1) / FRACTION_SCALE;
  if (ms >= UINT32_MAX) return false; /* all ones means "the session's" on the wire */
  *out = (uint32_t)ms;
  return true;
}

static bool limit_value(const char **text, uint64_t *out) {
  static const char *const words[] = {"unlimited", "infinity"};
  for (size_t i = 0; i < 2; i++) {
    size_t length = strlen(words[i]);
    if (strncmp(*text, words[i], length) != 0) continue;
    *text += length;
    *out = UINT64_MAX;
    return true;
  }
  return digits(text, UINT64_MAX - 1, out);
}

const char *limit_name(int resource) {
  for (size_t i = 0; i < sizeof limit_names / sizeof *limit_names; i++)
    if (limit_names[i].resource == resource) return limit_names[i].name;
  return NULL;
}

const char *parse_limit(const char *text, struct wire_limit *out) {
  const char *equals = strchr(text, '=');
  if (equals == NULL) return "it needs the form NAME=SOFT[:HARD]";
  size_t length = (size_t)(equals - text), i = 0, count = sizeof limit_names / sizeof *limit_names;
  while (i < count && (strlen(limit_names[i].name) != length || strncmp(limit_names[i].name, text, length) != 0)) i++;
  if (i == count) return "no such limit";
  out->resource = (uint8_t)limit_names[i].resource;
  const char *at = equals + 1;
  if (!limit_value(&at, &out->soft)) return "it needs a number or 'unlimited'";
  out->hard = out->soft;
  if (*at == ':' && (at++, !limit_value(&at, &out->hard))) return "it needs a number or 'unlimited' behind the colon";
  if (*at != '\0') return "it needs the form NAME=SOFT[:HARD]";
  return out->soft > out->hard ? "its soft limit is above its hard one" : NULL;
}
