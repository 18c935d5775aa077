import { describe, expect, it } from 'vitest';
import { formatLayers, layersOf } from '../../../src/cli/layers.js';
import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';
import type { SessionRecord } from '../../../src/session/record.js';
import { wrapOf } from '../wrap/wraps.js';

function recordOf(changes: Partial<SessionDefinition>, more: Partial<SessionRecord> = {}): SessionRecord {
  const definition: SessionDefinition = {
    ...DEFINITION_DEFAULTS,
    name: 's',
    directory: '/',
    launch: { style: 'enter', argv: [] },
    ...changes,
  };
  return { protocol: 1, definition, declared: [], weak: [], inputs: [], openerPid: 1, openedAt: 0, ...more };
}

describe('what stands between a caller and a command', () => {
  it('is the launcher', () => {
    const record = recordOf({ launch: { style: 'enter', argv: ['devenv', 'shell', '--'] } });
    expect(formatLayers(layersOf(record, ['make', 'a b'], '/w'))).toBe(
      "1  what 'devenv shell --' enters\n2  the command, looked up on the PATH there\n\nruns\n  make 'a b'\n",
    );
  });

  it('is the wrapper, with nothing shown that a caller gave', () => {
    const wrap = wrapOf({
      prefix: ['docker', 'exec', '-i'],
      operand: ['box\u00e9'],
      envStyle: 'option',
      envOption: '-e',
      cwdOption: '-w',
      ttyOption: ['-t'],
      farSide: 'marker',
    });
    const record = recordOf(
      { mode: 'wrap', wrap, env: { A: '1' }, passEnv: ['SECRET'], runtimePassEnv: ['TOKEN'] },
      {
        declared: [
          ['A', '1'],
          ['SECRET', 'hunter2'],
        ],
      },
    );
    const text = formatLayers(layersOf(record, ['make'], '/w'));
    expect(text).toBe(
      "1  this host, with the environment of each caller\n2  docker exec -i 'box\u00e9': variables by option, the directory by -w, -t on a terminal, ended by a marker\n3  the command, looked up inside\n\nruns\n  docker exec -i -e A=1 -e SECRET=… -e TOKEN=… -e HOLDFAST_RUN=… -w /w 'box\u00e9' make\n",
    );
  });

  it('is the wrapper inside of what a launcher enters, and what it is lent', () => {
    const wrap = wrapOf({ prefix: ['podman', 'exec'], operand: ['{id}'], envStyle: 'option-by-name', farSide: 'none' });
    const record = recordOf(
      { mode: 'wrap', wrap, launch: { style: 'source', script: '/env.sh' }, runtimePassEnv: ['TOKEN'] },
      { held: { name: 'n', id: '4f', keeperPid: 2, keeperStartTicks: 3 } },
    );
    const layers = layersOf(record, ['make'], '');
    expect(layers.layers[0]).toBe("bash, with '/env.sh' sourced");
    expect(layers.argv).toEqual(['podman', 'exec', '-e', 'TOKEN', '4f', 'make']);
    expect(formatLayers(layers)).toContain('with TOKEN in the environment of the wrapper\n');
  });
});
