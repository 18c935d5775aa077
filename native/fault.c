#include "fault.h"

#ifdef HOLDFAST_FAULTS
#include <errno.h>
#include <stdio.h>
#include <string.h>

static char armed_call[32];
static int armed_error, armed_countdown;

int fault_hit(const char *call) {
  if (armed_countdown == 0 || strcmp(call, armed_call) != 0 || --armed_countdown > 0) return 0;
  errno = armed_error;
  return 1;
}

void fault_arm(const char *call, int error, int nth) {
  armed_countdown = call == NULL ? 0 : nth;
  armed_error = error;
  snprintf(armed_call, sizeof armed_call, "%s", call == NULL ? "" : call);
}
#else
typedef int fault_unused; /* ISO C forbids an empty translation unit */
#endif
