// What a session changes for a command: its environment against that of whoever asks. Pure. Text is latin1, one character a byte.

import type { Source, Variable } from './explanation.js';

export interface Difference {
  /** The caller has no such variable. */
  readonly added: readonly { readonly name: string; readonly value: string; readonly from: Source }[];
  readonly changed: readonly Changed[];
  /** Commands get no such variable. */
  readonly removed: readonly { readonly name: string; readonly was: string }[];
}

interface Changed {
  readonly name: string;
  readonly value: string;
  readonly was: string;
  readonly from: Source;
  /** Of a list of directories. */
  readonly entries?: { readonly added: readonly string[]; readonly removed: readonly string[] };
}

/** Of the shell that asks, and of this program itself: they differ without a meaning. */
const WITHOUT_MEANING = ['_', 'SHLVL', 'OLDPWD'];

/** In the order of `variables`, then of names. */
export function differenceOf(variables: readonly Variable[], caller: ReadonlyMap<string, string>): Difference {
  const meant = variables.filter(({ name }) => !WITHOUT_MEANING.includes(name));
  const names = new Set(meant.map(({ name }) => name));
  return {
    added: meant.filter(({ name }) => !caller.has(name)).map(({ name, value, from }) => ({ name, value, from })),
    changed: meant.flatMap(({ name, value, from }): Changed[] => {
      const was = caller.get(name);
      return was === undefined || was === value ? [] : [{ name, value, was, from, ...listOf(name, value, was) }];
    }),
    removed: [...caller]
      .filter(([name]) => !names.has(name) && !WITHOUT_MEANING.includes(name))
      .map(([name, was]) => ({ name, was }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function listOf(name: string, value: string, was: string): Pick<Changed, 'entries'> {
  if (!/(PATH|_DIRS)$/.test(name) || !(value.includes(':') || was.includes(':'))) return {};
  const [now, then] = [value.split(':'), was.split(':')];
  return { entries: { added: now.filter((part) => !then.includes(part)), removed: then.filter((part) => !now.includes(part)) } };
}
