// Signals by name, as the C client writes them. Numbers are those of Linux on x86 and ARM, which the wire speaks.

const NAMES = (
  'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT ' +
  'STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'
).split(' ');
const FIRST_REALTIME = 34;

/** `SIGTERM`, `SIGRTMIN+3`. */
export function signalName(signal: number): string {
  const name = NAMES[signal - 1];
  if (name !== undefined) return `SIG${name}`;
  return signal >= FIRST_REALTIME ? `SIGRTMIN+${signal - FIRST_REALTIME}` : `SIG${signal}`;
}
