/* Projects: found by the files in the directories upwards that say which environment belongs to them. */
#ifndef HOLDFAST_CLIENT_PROJECT_H
#define HOLDFAST_CLIENT_PROJECT_H

/* The nearest directory from `physical` upwards that says which environment it has; NULL: none. */
const char *project_find(const char *physical);

#endif
