// What the tests run as an agent: the real one, which also takes orders to let system calls fail. Bundled by agent-process.ts.

import { runAgent } from '../../../src/agent/main.js';
import { armFault } from '../../../src/native.js';

process.on('message', (order: { call: string; errno: number; nth: number }) => {
  process.send?.(armFault(order.call, order.errno, order.nth));
});
void runAgent(process.argv[2] ?? '', 3).then((status) => process.exit(status));
