// One command through the library: SOCKET COMMAND…; ends as the command ends.
import { addressOf, run } from '../../dist/index.js';

const [socket, program, ...args] = process.argv.slice(2);
const handle = run({ program, args, stdio: 'inherit' }, addressOf({ socket }));
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'])
  process.on(signal, () => handle.kill(signal));
const outcome = await handle.outcome;
if (outcome.kind === 'exited') process.exitCode = outcome.code;
else if (outcome.kind === 'signaled') {
  process.removeAllListeners(outcome.signal);
  process.kill(process.pid, outcome.signal);
} else process.exitCode = outcome.kind === 'not-started' ? 127 : 125;
