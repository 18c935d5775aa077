// The table of docs/differences.md is what the conformance suite judges by: how it is read, and when an entry is stale.

import { describe, expect, it } from 'vitest';
import { foreignColumn } from '../../conformance/columns.js';
import { parseDifferences } from '../../conformance/differences.js';
import { judge } from '../../conformance/judge.js';
import type { Observation } from '../../conformance/observation.js';

const table = (...rows: string[]): string =>
  ['text', '', '| id | facts | scenes | columns | shown | why |', '|---|---|---|---|---|---|', ...rows].join('\n');
const ROW = '| `nice` | `schedule.*` `oom` | `caller-*` | `*` | `0` | the launcher decides |';

const column = { ...foreignColumn('ours', []), judged: true };
const seen = (name: string, scene: string, nice: number): Observation => ({
  column: name,
  scene,
  focus: [],
  facts: { 'schedule.nice': nice },
});
const judged = (shown: number, scene = 'caller-nice') =>
  judge([column], [seen('direct', scene, 7), seen('ours', scene, shown)], parseDifferences(table(ROW)), true);

describe('the table of differences', () => {
  it('explains a difference that it covers', () => {
    expect(judged(0)).toEqual({
      findings: [{ column: 'ours', scene: 'caller-nice', fact: 'schedule.nice', direct: 7, shown: 0, id: 'nice' }],
      stale: [],
    });
  });

  it('explains neither another value nor another scene', () => {
    expect(judged(3).findings[0]?.id).toBeUndefined();
    expect(judged(0, 'plain').findings[0]?.id).toBeUndefined();
  });

  it('is stale where nothing differs', () => {
    expect(judged(7)).toEqual({ findings: [], stale: ['nice'] });
  });

  it('must give an id once, with a reason', () => {
    expect(() => parseDifferences(table(ROW, ROW))).toThrow("'nice' is there twice");
    expect(() => parseDifferences(table('| `nice` | `a` | `b` | `c` | | |'))).toThrow(
      'differences.md:5: a difference needs an id and a reason',
    );
    expect(() => parseDifferences(table('| `nice` | | `b` | `c` | | why |'))).toThrow("'nice' says not which facts");
  });
});
