/* Fault injection for test builds: with -DHOLDFAST_FAULTS, fault_arm() makes the Nth call of one named syscall fail once.
 * In a normal build FAULT() is the constant 0 and costs nothing. */
#ifndef HOLDFAST_FAULT_H
#define HOLDFAST_FAULT_H

#ifdef HOLDFAST_FAULTS
/* Sets errno and returns 1 when the call that is about to be made is the armed one. */
int fault_hit(const char *call);
/* Makes the `nth` (from 1) next call of `call` fail with `error`; NULL disarms. */
void fault_arm(const char *call, int error, int nth);
#define FAULT(call) fault_hit(#call)
#else
#define FAULT(call) 0
#endif

#endif
