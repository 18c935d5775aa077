/* Projects: found by the files in the directories upwards that say which environment belongs to them. */
#ifndef HOLDFAST_CLIENT_PROJECT_H
#define HOLDFAST_CLIENT_PROJECT_H

#include <stdbool.h>

#include "client_directory.h"

/* The nearest directory from `physical` upwards that says which environment it has. */
bool project_find(const char *physical, char out[DIRECTORY_BYTES]);

#endif
