/* Values of options: numbers, durations, resource limits. Pure. */
#ifndef HOLDFAST_CLIENT_VALUES_H
#define HOLDFAST_CLIENT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

/* Decimal digits only, at most `most`. */
bool parse_number(const char *text, uint64_t most, uint64_t *out);

/* 500ms, 5s, 1.5m, 1h; a plain number is seconds. Rounded up to a millisecond, so that only zero gives 0. */
bool parse_duration_ms(const char *text, uint32_t *out);

/* NAME=SOFT[:HARD], with the long names of prlimit(1). One number sets both. NULL, or what is wrong with it. */
const char *parse_limit(const char *text, struct wire_limit *out);

/* Its name there, or NULL. */
const char *limit_name(int resource);

#endif
