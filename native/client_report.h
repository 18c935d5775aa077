/* The file of `--report`: one JSON object on how the request ended. Names of variables, never their values. */
#ifndef HOLDFAST_CLIENT_REPORT_H
#define HOLDFAST_CLIENT_REPORT_H

#include "client_ending.h"
#include "client_environment.h"
#include "client_options.h"
#include "client_session.h"

/* Opens the file (0600, CLOEXEC, emptied) before anything is asked for. A descriptor of ours; -1: it was said why not. */
int report_open(const char *path);

struct report {
  const struct ending *ending; /* NULL: no agent was reached */
  const struct session *session;
  const struct options *options;
  const struct changes *changes;
  int exit_code; /* of the client; 128 + N when it dies of a signal */
};

/* Writes it all and closes `fd`. A failure is said, and changes nothing else. */
void report_write(int fd, const struct report *report);

#endif
