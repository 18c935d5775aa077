// Pins that the numbers of the wire, which three places must hold, are the same in each: docs/protocol.md, native/*.h and .c, src/protocol.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HEADER_BYTES, Kind, MAGIC, MAX_FDS, RULES, VERSION } from '../../../src/protocol/limits.js';
import { MAX_LEFTOVERS } from '../../../src/protocol/messages.js';
import { CANCELLED_BY, RefusalCode, RunFlag, refusalName, Step, stepName, TerminalKind } from '../../../src/protocol/numbers.js';

const root = join(import.meta.dirname, '../../..');
const specification = readFileSync(join(root, 'docs/protocol.md'), 'utf8');
const header = readFileSync(join(root, 'native/protocol.h'), 'utf8');
const wire = readFileSync(join(root, 'native/wire.c'), 'utf8');

describe('docs/protocol.md and src/protocol', () => {
  it('have the same kinds, senders, caps and descriptors', () => {
    const rows = rowsOf('## 2. Frame').filter(([kind]) => /^\d+$/.test(kind ?? '') && kind !== '0');
    const documented = rows.filter(([, name]) => name !== undefined && /^[A-Z_]+$/.test(name));
    expect(documented).toEqual(
      Object.values(RULES).map(({ kind, name, from, maxBodyBytes, maxFds }) => [
        `${kind}`,
        name,
        from,
        maxBodyBytes.toLocaleString('en').replaceAll(',', ' '),
        maxFds === 0 ? '0' : `0–${maxFds}`,
      ]),
    );
  });

  it('have the same refusals', () => {
    const documented = rowsOf('**REFUSED**').map(([code, name]) => [name, Number(code)]);
    expect(documented.filter(([, code]) => !Number.isNaN(code))).toEqual(Object.entries(RefusalCode));
  });

  it('have the same steps', () => {
    const cells = rowsOf('**NOT_STARTED**').flatMap(([a, b, c, d]) => [
      [b?.split(' ')[0], Number(a)] as const,
      [d?.split(' ')[0], Number(c)] as const,
    ]);
    const documented = cells.filter(([, step]) => !Number.isNaN(step)).sort(([, a], [, b]) => a - b);
    expect(documented).toEqual(Object.entries(Step));
  });

  it('have the same magic, version, flags and cancellers', () => {
    expect(specification).toContain(`\`0x${MAGIC.toString(16)}\``);
    expect(Buffer.from(MAGIC.toString(16), 'hex').toString()).toBe('HFRX');
    expect(specification).toContain(`| version | u16 | ${VERSION}. `);
    const { EXACT, DETACH, CWD_FD, REPORT } = RunFlag;
    expect(specification).toMatch(
      new RegExp(`\\| flags \\| u16 \\| ${EXACT} exact · ${DETACH} detach · ${CWD_FD} the last .* · ${REPORT} a report`),
    );
    const { PLAIN, HANDOVER, PTY } = TerminalKind;
    expect(specification).toContain(`${PLAIN} plain · ${HANDOVER} hand-over · ${PTY} pty`);
    expect(specification).toContain(CANCELLED_BY.map((name, number) => `${number} ${name}`).join(', '));
    expect(specification).toContain(`at most ${MAX_LEFTOVERS.toLocaleString('en').replaceAll(',', ' ')}`);
  });
});

describe('native and src/protocol', () => {
  const constants = Object.fromEntries(
    [...header.matchAll(/\b([A-Z][A-Z0-9_]+) = (0x[0-9a-f]+|\d+)/g)].map(([, name, value]) => [name, Number(value)]),
  );

  it('have the same numbers', () => {
    expect(constants).toEqual({
      WIRE_HEADER_BYTES: HEADER_BYTES,
      WIRE_MAGIC: MAGIC,
      WIRE_VERSION: VERSION,
      WIRE_MAX_FDS: MAX_FDS,
      ...prefixed('WIRE_', Kind),
      ...prefixed('WIRE_RUN_', RunFlag),
      ...prefixed('WIRE_TERMINAL_', TerminalKind),
      ...prefixed('REFUSED_', RefusalCode),
      ...prefixed('STEP_', Step),
      ...Object.fromEntries(CANCELLED_BY.map((name, number) => [`CANCELLED_${name.toUpperCase()}`, number])),
    });
  });

  it('have the same caps', () => {
    const rules = [...wire.matchAll(/\{WIRE_([A-Z_]+), (\d+), (\d+)\}/g)].map(([, name, maxFds, maxBodyBytes]) => [
      name,
      Number(maxFds),
      Number(maxBodyBytes),
    ]);
    const agents = Object.values(RULES).filter(({ from }) => from === 'agent');
    expect(rules).toEqual(agents.map(({ name, maxFds, maxBodyBytes }) => [name, maxFds, maxBodyBytes]));
    expect(wire).toContain(`MAX_RUN_BODY_BYTES = ${RULES[Kind.RUN].maxBodyBytes};`);
  });
});

describe('names of numbers', () => {
  it('are found for every refusal and step', () => {
    expect(Object.values(RefusalCode).map(refusalName)).toEqual(Object.keys(RefusalCode));
    expect(Object.values(Step).map(stepName)).toEqual(Object.keys(Step));
  });
});

/** Cells of the rows between a heading and the next one, or the next bold message name. */
function rowsOf(start: string): string[][] {
  const from = specification.indexOf(start);
  expect(from).toBeGreaterThan(-1);
  const rest = specification.slice(from + start.length);
  const end = rest.search(/\n(## |\*\*[A-Z_]+\*\*)/);
  const lines = rest.slice(0, end === -1 ? undefined : end).split('\n');
  return lines
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

function prefixed(prefix: string, numbers: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [prefix + name, number]));
}
