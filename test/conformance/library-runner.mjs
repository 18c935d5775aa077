// One command through the library: SOCKET COMMAND…; ends as the command ends.
import { readFileSync } from 'node:fs';
import { addressOf, run } from '../../dist/index.js';

// Bytes: process.argv holds text, and has lost what is none.
const words = readFileSync('/proc/self/cmdline').toString('latin1').split('\0').slice(2, -1);
const [socket, program, ...args] = words.map((word) => Buffer.from(word, 'latin1'));
const handle = run({ program, args, stdio: 'inherit' }, addressOf({ kind: 'socket', path: socket }));
const outcome = await handle.outcome;
if (outcome.kind === 'exited') process.exitCode = outcome.code;
else if (outcome.kind === 'signaled') process.kill(process.pid, outcome.signal);
else process.exitCode = outcome.kind === 'notStarted' ? (outcome.errno === 2 ? 127 : 126) : 125;
