// Waits until the machine has little else to do. Beside other work two programs can be compared only badly: the scheduler shares the
// cores out by session, and a held command is in another session than its caller.

import { readFileSync } from 'node:fs';

const LOOK_MS = 150;
const BUSY_SHARE = 0.1;

/** How long a batch waits; 0: not at all, as for a run that only shows that the benchmarks work. */
export const patience = { ms: 20_000 };

/** Batches that were measured beside other work, as the wait for quiet took too long. */
export const unquiet = { batches: 0, of: 0 };

/** Looks at least once, so every batch starts from the same short rest. */
export async function quiet(): Promise<void> {
  if (patience.ms === 0) return;
  const deadline = performance.now() + patience.ms;
  unquiet.of++;
  for (;;) {
    const before = cpuTimes();
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const after = cpuTimes();
    const busyShare = (after.busy - before.busy) / Math.max(1, after.all - before.all);
    if (busyShare <= BUSY_SHARE) return;
    if (performance.now() > deadline) {
      unquiet.batches++;
      return;
    }
  }
}

function cpuTimes(): { busy: number; all: number } {
  const line = /^cpu\s+(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
  // user nice system idle iowait irq softirq steal; the guest times after them are in user already.
  const times = line.split(/\s+/).map(Number).slice(0, 8);
  const all = times.reduce((sum, each) => sum + each, 0);
  return { all, busy: all - (times[3] ?? 0) - (times[4] ?? 0) };
}
