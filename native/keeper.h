/* The keeper of a held container: see keeper.c. */
#ifndef HOLDFAST_KEEPER_H
#define HOLDFAST_KEEPER_H

/* `runner-exec __keeper FIFO START-COUNT START… [STOP…]`; `argv` begins at FIFO. Returns the exit status. */
int keeper_main(int argc, char **argv);

#endif
