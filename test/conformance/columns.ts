// The ways to run a command that are compared: directly, and through a session in every mode that there is.

import { join } from 'node:path';

export interface Column {
  name: string;
  /** The column whose facts are the right ones. */
  against: string;
  /** Words in front of options, and between these and the command. */
  before: readonly string[];
  after: readonly string[];
  /** It knows the options of runner-exec. */
  takesFlags: boolean;
  /** A difference needs an entry in docs/differences.md. Others are only shown. */
  judged: boolean;
  /** Only scenes with one of these tags; empty: all. */
  tags: readonly string[];
  /** Patterns of the scenes that make sense here. */
  scenes: readonly string[];
  prepare: readonly (readonly string[])[];
  tidy: readonly (readonly string[])[];
}

export interface Programs {
  runnerExec: string;
  holdfast: string;
  /** conformance's own: one command through the library. */
  libraryRunner: string;
}

const DIRECT = 'direct';
const IN_SHELL = 'direct in bash';

/** What a request of a Node program can be compared in: no options, and no state of the caller's that Node has not kept. */
const LIBRARY_SCENES = [
  ...[
    'plain',
    'argv-*',
    'umask',
    'directory-*',
    'stdin-file',
    'stdin-pipe',
    'stdin-socket',
    'stdin-null',
    'stdout-append',
    'swapped',
    'one-*',
  ],
  ...['exit-*', 'dies-of-9', 'dies-of-11', 'dies-of-15', 'leaves-*', 'script-*', 'program-is-*', 'program-missing', 'killed'],
];
/** What a launcher has a hand in. */
const LAUNCHED_SCENES = [
  'plain',
  'argv-bytes',
  'umask',
  'signals-ignored',
  'env-by-name',
  'stdin-file',
  'exit-7',
  'dies-of-9',
  'terminal-leader',
];

/** @param scratch has `run`, where the sessions live, and `launch.bash`. */
export function ownColumns(programs: Programs, scratch: string): Column[] {
  const node = process.execPath;
  const launcher = ['bash', join(scratch, 'launch.bash')];
  const session = (name: string, flags: readonly string[], words: readonly string[]) => ({
    socket: join(scratch, 'run', `${name}.sock`),
    prepare: [[node, programs.holdfast, 'open', name, '--launch-pass-env', '*', '--launch-pass-env', 'PWD', ...flags, '--', ...words]],
    tidy: [[node, programs.holdfast, 'close', name]],
  });
  const through = (name: string, { socket, prepare, tidy }: ReturnType<typeof session>, more: Partial<Column> = {}): Column => ({
    name,
    against: DIRECT,
    before: [programs.runnerExec, '--socket', socket],
    after: ['--'],
    takesFlags: true,
    judged: true,
    tags: [],
    scenes: ['*'],
    prepare,
    tidy,
    ...more,
  });
  const cgroup = session('cgroup', ['--containment', 'cgroup'], ['env']);
  const any = session('any', [], ['env']);
  return [
    direct(DIRECT, []),
    through('cgroup', cgroup),
    through('warden', session('warden', ['--containment', 'warden'], ['env'])),
    through('group', session('group', ['--containment', 'group'], ['env'])),
    through('-t', any, { before: [programs.runnerExec, '-t', '--socket', any.socket], tags: ['terminal'] }),
    through('node', any, { before: [node, programs.holdfast, '__runner-exec', '--socket', any.socket] }),
    through('library', any, { before: [node, programs.libraryRunner, any.socket], after: [], takesFlags: false, scenes: LIBRARY_SCENES }),
    { ...direct(IN_SHELL, launcher), scenes: LAUNCHED_SCENES },
    through('bash', session('bash', [], launcher), { against: IN_SHELL, scenes: LAUNCHED_SCENES }),
  ];
}

/** Run again, it shows that the facts are of the kind that two runs agree on. */
function direct(name: string, before: readonly string[]): Column {
  return { name, against: name, before, after: [], takesFlags: false, judged: true, tags: [], scenes: ['*'], prepare: [], tidy: [] };
}

/** A prefix that is not ours: its differences are shown beside ours, and nobody is blamed for them. */
export function foreignColumn(name: string, prefix: readonly string[]): Column {
  return { ...direct(name, prefix), against: DIRECT, judged: false };
}

/** What a launcher may well do: variables, functions, limits, priorities, another directory, another mask. */
export const LAUNCHER: string = `
ulimit -Sn 612
ulimit -Sc 0
renice -n 3 -p $$ >/dev/null
choom -n 250 -p $$ >/dev/null
taskset -pc 0 $$ >/dev/null
umask 027
trap '' USR2
export MARK=launched PATH="/opt/launched/bin:$PATH"
unexported() { echo carried; }
exported() { echo carried; }
export -f exported
cd /usr
exec "$@"
`;
