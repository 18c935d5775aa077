/* `runner-exec __enter NODE CLI STEM`: the first program of ours inside an environment that is being entered. */
#ifndef HOLDFAST_ENTER_H
#define HOLDFAST_ENTER_H

/* `argv` holds the three words. Becomes the agent; returns the status to exit with when that failed. */
int enter_main(int argc, char **argv);

#endif
