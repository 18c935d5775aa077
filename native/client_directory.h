/* The working directory of the target: a name where there is an honest one, else a descriptor. */
#ifndef HOLDFAST_CLIENT_DIRECTORY_H
#define HOLDFAST_CLIENT_DIRECTORY_H

#include "client_options.h"

enum { DIRECTORY_BYTES = 4096 /* PATH_MAX: no longer name reaches the kernel */ };

struct directory {
  const char *physical; /* as getcwd(2) has it; empty: deleted, unreachable, or too deep */
  const char *target;   /* as the target is to have it; may be empty when fd is there */
  int fd;               /* O_PATH, ours; -1 when the name serves */
};

/* OPTIONS_GO_ON, or the status to exit with. Opens `fd` only where no name leads there. */
int directory_find(const struct options *options, struct directory *out);

/* Makes the working directory travel as a descriptor, whatever names it has. OPTIONS_GO_ON, or the status to exit with. */
int directory_open(struct directory *directory);

/* Puts the caller's directory in front of a relative `path`, without looking at what is there. False: too long, or no directory. */
bool directory_join(const struct directory *directory, const char *path, char out[DIRECTORY_BYTES]);

#endif
