/* The help text, and guesses at what a mistyped option meant. */
#ifndef HOLDFAST_CLIENT_USAGE_H
#define HOLDFAST_CLIENT_USAGE_H

#include <stddef.h>

extern const char usage_text[];

/* The nearest of `names` when it is at most two slips away from `typed`, else NULL. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

#endif
