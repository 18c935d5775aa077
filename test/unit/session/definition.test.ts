// Pins what is written into a session's record and read back.

import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFINITION_DEFAULTS, isSame, parseDefinition, type SessionDefinition } from '../../../src/session/definition.js';
import { findChanges, hashInputs } from '../../../src/session/freshness.js';
import { visibleLines } from '../../../src/session/launch-log.js';
import { parseNotice } from '../../../src/session/readiness.js';
import type { InputHash } from '../../../src/session/record.js';
import { findRecord, parseRecord, type SessionRecord, writeRecord } from '../../../src/session/record.js';

const definition: SessionDefinition = { ...DEFINITION_DEFAULTS, name: 'web', directory: '/p', launch: { style: 'enter', argv: ['env'] } };
const record: SessionRecord = {
  protocol: 1,
  definition,
  declared: [['A', '\xff']],
  weak: [],
  inputs: [{ path: '/p/x', sha256: null }],
  openerPid: 7,
  openedAt: 1,
};

function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-record-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

describe('a definition', () => {
  it('survives JSON', () => {
    const wrapped: SessionDefinition = {
      ...definition,
      mode: 'wrap',
      wrap: {
        prefix: ['docker'],
        operand: ['box'],
        envStyle: 'option',
        envOption: '-e',
        ttyOption: ['-t'],
        pathMap: { '/a=b': '/c' },
        mapArgv: true,
        failureCodes: [125],
        farSide: 'marker',
      },
    };
    expect(parseDefinition(JSON.parse(JSON.stringify(wrapped)))).toEqual(wrapped);
  });

  it('keeps variables whatever they are called', () => {
    const env = JSON.parse('{"__proto__": "a", "constructor": "b", "prototype": "c", "": "never"}');
    expect(() => parseDefinition({ ...definition, env })).toThrow("malformed at 'env.'");
    delete env[''];
    const parsed = parseDefinition(JSON.parse(JSON.stringify({ ...definition, env, runtimeEnv: env })));
    expect(Object.entries(parsed.env)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['prototype', 'c'],
    ]);
    expect(JSON.stringify(parsed.runtimeEnv)).toBe(JSON.stringify(env));
  });

  it('that is malformed is refused by member', () => {
    expect(() => parseDefinition({ ...definition, launch: { style: 'enter' } })).toThrow("malformed at 'launch.argv'");
    expect(() => parseDefinition({ ...definition, directory: 'p' })).toThrow("malformed at 'directory'");
    expect(() => parseDefinition(undefined)).toThrow('malformed');
  });

  it('is the same whatever the order of its members', () => {
    expect(isSame({ a: [1, { b: 2, c: 3 }], d: 4 }, { d: 4, a: [1, { c: 3, b: 2 }] })).toBe(true);
    expect(isSame({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  });
});

describe('a record', () => {
  it('is private, whole, and read back as it was', () => {
    const path = join(scratch(), 'web.json');
    expect(findRecord(path)).toBeUndefined();
    writeRecord(path, record);
    writeRecord(path, { ...record, launcherPid: 8, launcherStartTicks: 9, notifySocket: '@x' });
    expect(findRecord(path)).toEqual({ ...record, launcherPid: 8, launcherStartTicks: 9, notifySocket: '@x' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('of another version, or torn, is refused with a code', () => {
    expect(() => parseRecord(JSON.stringify({ ...record, protocol: 2 }))).toThrow("malformed at 'protocol'");
    expect(() => parseRecord('{"protocol":1')).toThrow('not JSON');
  });
});

describe('freshness', () => {
  const changed = ({ inputs }: { inputs: InputHash[] }) => findChanges({ inputs }).map(({ path }) => path);

  it('is told by content: a change, a coming and a going count, a touch does not', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'a'), 'one');
    const inputs = hashInputs({ directory, inputs: ['a', 'b', '.', 'a'].filter((name) => name !== '.') });
    expect(inputs).toHaveLength(2);
    writeFileSync(join(directory, 'a'), 'one');
    expect(changed({ inputs })).toEqual([]);
    writeFileSync(join(directory, 'b'), '');
    expect(changed({ inputs })).toEqual([join(directory, 'b')]);
    rmSync(join(directory, 'a'));
    expect(changed({ inputs })).toEqual([join(directory, 'a'), join(directory, 'b')]);
  });

  it('of a directory is that of all in it', () => {
    const directory = scratch();
    const inputs = hashInputs({ directory, inputs: ['.'] });
    writeFileSync(join(directory, 'deep'), 'x');
    expect(changed({ inputs })).toEqual([directory]);
  });
});

describe('what launchers and agents say', () => {
  it('a notice is ready only with a pid', () => {
    expect(parseNotice('READY=1\nMAINPID=12\nSTATUS=a=b')).toEqual({ readyPid: 12, status: 'a=b' });
    expect(parseNotice('READY=1')).toEqual({});
    expect(parseNotice('READY=1\nMAINPID=-1')).toEqual({});
    expect(parseNotice('HOLDFAST_ERROR=no luck')).toEqual({ failure: 'no luck' });
  });

  it('lines are as a person would see them', () => {
    expect(visibleLines('a\n\n  \n\x1b[31mred\x1b[0m\r\n10%\r20%\r\n\x07tab\there')).toEqual(['a', 'red', '20%', 'tab here']);
  });
});
