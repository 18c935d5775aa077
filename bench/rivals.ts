// Is a command in a held session cheaper than with every other way to reach a place that is already there?
// Rivals: bench/rivals/, as far as they are installed. The first row is the bare spawn.

import { Absent } from '../test/engines/site.js';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';
import type { Rival, RivalKind } from './rival.js';
import { dockerExec, podmanExec } from './rivals/containers.js';
import { direnvExec } from './rivals/direnv-exec.js';
import { nixDevelop } from './rivals/nix-develop.js';
import { nodeClient } from './rivals/node-client.js';
import { s6Sudo } from './rivals/s6-sudo.js';
import { sshMux } from './rivals/ssh-mux.js';

const KINDS: readonly RivalKind[] = [s6Sudo, sshMux, direnvExec, nixDevelop, nodeClient, dockerExec, podmanExec];
const HELD = 'runner-exec';

export async function rivals(place: Place, rounds: number): Promise<Result> {
  const present: Rival[] = [];
  const notes: string[] = [];
  try {
    for (const kind of KINDS) {
      try {
        present.push(await kind.start(place));
      } catch (error) {
        if (!(error instanceof Absent)) throw error;
        notes.push(`not measured: ${kind.name}: ${error.message}`);
      }
    }
    const all: Rival[] = [{ name: 'direct', argv: ['/bin/true'] }, { name: HELD, argv: place.held('/bin/true') }, ...present];
    const env = Object.assign({}, ...all.map((each) => each.env ?? {}));
    const timings = await place.timer(env).run(
      all.map(({ argv }) => argv),
      rounds,
    );
    const rows = rowsOf(all.map(({ name }, index) => [name, spreadOf((timings[index] ?? []).map(({ ms }) => ms))] as const));
    const held = ratioOf(rows, HELD);
    const bars = rows.slice(2).map((row) => ({
      what: `runner-exec against ${row.name}, median`,
      limit: 1,
      side: 'below' as const,
      seen: held / row.ratio,
    }));
    return { name: 'rivals', question: 'Is a held session cheaper than each other way in?', unit: 'ms', rows, bars, notes };
  } finally {
    for (const rival of present) await rival.end?.();
  }
}
