// Pins docs/config.md "Every pair": each row of its two tables is tried on a real session, and what the row says is what is found.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useHoldfast } from '../harness/holdfast.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const ALL_ROWS_MS = 240_000;

/** What a source gives, how it is said for a variable, and to whom. `caller`: whose environment has to have the variable. */
interface Source {
  readonly value: string;
  readonly caller?: 'opening' | 'calling';
  /** A key of the session, and what its value becomes by one more variable. */
  readonly key?: readonly [key: string, kind: 'table' | 'names' | 'all'];
  readonly option?: (name: string) => readonly string[];
}

const SOURCES: Readonly<Record<string, Source>> = {
  environment: { value: 'environment' },
  env: { value: 'env', key: ['env', 'table'] },
  runtime_env: { value: 'runtime_env', key: ['runtime_env', 'table'] },
  pass_env: { value: 'opening', caller: 'opening', key: ['pass_env', 'names'] },
  'pass_env = ["*"]': { value: 'opening', caller: 'opening', key: ['pass_env', 'all'] },
  launch_pass_env: { value: 'opening', caller: 'opening', key: ['launch_pass_env', 'names'] },
  runtime_pass_env: { value: 'calling', caller: 'calling', key: ['runtime_pass_env', 'names'] },
  'runtime_pass_env = ["*"]': { value: 'calling', caller: 'calling', key: ['runtime_pass_env', 'all'] },
  path_prepend: { value: '/path_prepend', key: ['path_prepend', 'names'] },
  '--env K=V': { value: 'typed', option: (name) => ['--env', `${name}=${name === 'PATH' ? '/typed' : 'typed'}`] },
  '--pass-env K': { value: 'calling', caller: 'calling', option: (name) => ['--pass-env', name] },
  "--pass-env '*'": { value: 'calling', caller: 'calling', option: () => ['--pass-env', '*'] },
  '--unset K': { value: 'none', option: (name) => ['--unset', name] },
  '--exact': { value: 'none', option: () => ['--exact'] },
  '--path-prepend': { value: '/--path-prepend', option: () => ['--path-prepend', '/--path-prepend'] },
};

interface Row {
  readonly line: string;
  readonly sources: readonly { readonly name: string; readonly source: Source; readonly isLacking: boolean }[];
  readonly isUnnamed: boolean;
  readonly found: string;
}

/** @throws Error for a source that this test does not know: a row that is not tried is no row. */
function rowsUnder(heading: string): Row[] {
  const lines = readFileSync(new URL('../../docs/config.md', import.meta.url), 'utf8').split('\n');
  const start = lines.indexOf(heading);
  const end = lines.findIndex((line, i) => i > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const said = cells.slice(0, -1).join(' ');
    const sources = [...said.matchAll(/`([^`]+)`(, which the caller lacks)?/g)].map(([, name = '', lacking]) => {
      const source = SOURCES[name];
      if (source === undefined) throw new Error(`docs/config.md: '${name}' in '${line}' is not known to this test`);
      return { name, source, isLacking: lacking !== undefined };
    });
    const isUnnamed = said.startsWith('the caller, not named');
    if (sources.length === 0 && !isUnnamed) throw new Error(`docs/config.md: '${line}' names no source`);
    return { line, sources, isUnnamed, found: (cells.at(-1) ?? '').replaceAll('`', '') };
  });
}

function isCalledBy(row: Row, caller: 'opening' | 'calling'): boolean {
  return row.isUnnamed || row.sources.some(({ source, isLacking }) => source.caller === caller && !isLacking);
}

/** One table of a holdfast.toml for the rows: variable by variable. */
function configOf(rows: ReadonlyMap<string, Row>): string {
  const tables = new Map<string, [string, string][]>();
  const lists = new Map<string, Set<string>>();
  for (const [variable, row] of rows) {
    for (const { source } of row.sources) {
      const [key, kind] = source.key ?? [];
      if (key === undefined) continue;
      if (kind === 'table') tables.set(key, [...(tables.get(key) ?? []), [variable, source.value]]);
      else
        lists.set(key, (lists.get(key) ?? new Set<string>()).add(kind === 'all' ? '*' : key === 'path_prepend' ? source.value : variable));
    }
  }
  const lines = [
    ...[...lists].map(([key, values]) => `${key} = ${JSON.stringify([...values])}`),
    ...[...tables].map(([key, pairs]) => `${key} = { ${pairs.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(', ')} }`),
  ];
  return `[session]\nlauncher = ["bash", "launch.sh"]\n${lines.join('\n')}\n`;
}

let serial = 0;

/** @param opening the opener's variables beside the usual ones. */
async function openFor(rows: ReadonlyMap<string, Row>, opening: Record<string, string>): Promise<Session> {
  const directory = holdfast.folder('rows');
  const own = [...rows].filter(([, row]) => row.sources.some(({ name }) => name === 'environment'));
  const exports = own.map(([variable]) => `export ${variable}=${variable === 'PATH' ? '/environment' : 'environment'}\n`);
  writeFileSync(join(directory, 'launch.sh'), `${exports.join('')}exec "$@"\n`);
  writeFileSync(join(directory, 'holdfast.toml'), configOf(rows));
  const name = `rows-${++serial}`;
  const { code, stderr } = await holdfast.holdfast(['open', name, '--config', join(directory, 'holdfast.toml')], { env: opening });
  expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
  return await holdfast.adopt(name);
}

function optionsOf(row: Row, variable: string): string[] {
  return row.sources.flatMap(({ source }) => source.option?.(variable) ?? []);
}

/** "none" for a variable that is not there. Both clients have to find the same. */
async function look(
  session: Session,
  variable: string,
  flags: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const words = ['--session', session.name, ...flags, '--', '/usr/bin/printenv', variable];
  const ends = [await holdfast.runnerExec(words, { env }), await holdfast.holdfast(['__runner-exec', ...words], { env })];
  const [found, other] = ends.map(({ code, stdout, stderr }) => {
    expect({ stderr: `${stderr}`, code }).toEqual({ stderr: '', code: code === 1 ? 1 : 0 });
    return code === 1 ? 'none' : `${stdout}`.replace(/\n$/, '');
  });
  return found === other ? `${found}` : `'${found}', but in TypeScript '${other}'`;
}

describe('the variable that two of them give', () => {
  const rows = rowsUnder('| a variable is given by | and by | a command finds |');
  /** Rows with the same "*" share a session: it is for all variables. */
  const groups = new Map<string, Map<string, Row>>();
  for (const [index, row] of rows.entries()) {
    const all = row.sources
      .filter(({ source }) => source.key?.[1] === 'all')
      .map(({ name }) => name)
      .sort()
      .join();
    groups.set(all, (groups.get(all) ?? new Map<string, Row>()).set(`HF_ROW_${index}`, row));
  }

  it('has a row for every pair that there can be', () => {
    expect(rows.length).toBeGreaterThan(60);
    const pairs = new Set(
      rows.map(({ sources }) => sources.map(({ name, isLacking }) => `${name}${isLacking ? ' lacking' : ''}`).join(' & ')),
    );
    expect(pairs.size).toBe(rows.length);
    const declared = ['pass_env = ["*"]', 'environment', 'env', 'runtime_env', 'pass_env', 'runtime_pass_env'];
    for (const [i, one] of declared.entries()) {
      // By its name or by "*", a variable of pass_env is the same one.
      for (const other of declared.slice(i + 1)) if (!(i === 0 && other === 'pass_env')) expect(pairs).toContain(`${one} & ${other}`);
      for (const typed of ['--env K=V', '--unset K', '--exact']) expect(pairs).toContain(`${one} & ${typed}`);
    }
  });

  it(
    'is found as docs/config.md says, row by row',
    async () => {
      const wrong: string[] = [];
      for (const group of groups.values()) {
        const opening = [...group].filter(([, row]) => isCalledBy(row, 'opening')).map(([variable]) => [variable, 'opening']);
        const session = await openFor(group, Object.fromEntries(opening));
        for (const [variable, row] of group) {
          const calling = isCalledBy(row, 'calling') ? { [variable]: 'calling' } : {};
          const found = await look(session, variable, optionsOf(row, variable), calling);
          const expected = row.found === 'none' ? 'none' : SOURCES[row.found]?.value;
          if (found !== expected) wrong.push(`${row.line} but found '${found}'`);
        }
      }
      expect(wrong).toEqual([]);
    },
    ALL_ROWS_MS,
  );
});

describe('the PATH that several of them give', () => {
  const rows = rowsUnder('| PATH is given by | a command finds |');
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const keys = row.sources
      .filter(({ source }) => source.option === undefined)
      .map(({ name }) => name)
      .sort()
      .join();
    groups.set(keys, [...(groups.get(keys) ?? []), row]);
  }

  it(
    'is joined as docs/config.md says, row by row',
    async () => {
      expect(rows.length).toBeGreaterThan(20);
      const wrong: string[] = [];
      // An opener needs its own, to find the launcher.
      const opening = `/opening:${holdfast.env['PATH']}`;
      const pathOf = (name: string): string => {
        const source = SOURCES[name];
        if (source === undefined) throw new Error(`docs/config.md: '${name}' is not known to this test`);
        if (source.caller !== undefined) return source.caller === 'opening' ? opening : '/calling';
        return source.value.startsWith('/') ? source.value : `/${source.value}`;
      };
      for (const group of groups.values()) {
        const [first] = group;
        if (first === undefined) continue;
        const session = await openFor(new Map([['PATH', withPaths(first)]]), { PATH: opening });
        for (const row of group) {
          const found = await look(session, 'PATH', optionsOf(row, 'PATH'), { PATH: '/calling' });
          // `--env K=V` has no colon in it, nor has any other name.
          const expected = row.found === 'none' ? 'none' : row.found.split(':').map(pathOf).join(':');
          if (found !== expected) wrong.push(`${row.line} but found '${found}'`);
        }
      }
      expect(wrong).toEqual([]);
    },
    ALL_ROWS_MS,
  );

  /** The same row with values that are directories. */
  function withPaths(row: Row): Row {
    const sources = row.sources.map((each) => {
      const value = each.source.value.startsWith('/') ? each.source.value : `/${each.source.value}`;
      return { ...each, source: { ...each.source, value } };
    });
    return { ...row, sources };
  }
});
