/* Sessions of projects: found by the files in the directories upwards, opened on first use. */
#ifndef HOLDFAST_CLIENT_PROJECT_H
#define HOLDFAST_CLIENT_PROJECT_H

#include <stdbool.h>

#include "client_directory.h"

/* The nearest directory from `physical` upwards that says which environment it has. */
bool project_find(const char *physical, char out[DIRECTORY_BYTES]);

/* Runs `holdfast open --project DIRECTORY` and waits for it; its messages go to our stderr. False: it was said why not. A signal
 * that would end us is passed on first, so that a half-entered environment ends with us. */
bool project_open(const char *directory);

#endif
