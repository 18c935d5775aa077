/* SHA-256 (FIPS 180-4) of one block of bytes: session names become file names with it. */
#ifndef HOLDFAST_SHA256_H
#define HOLDFAST_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);

#endif
