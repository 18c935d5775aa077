// Every key of a session table in holdfast.toml, and by the same name (`idle_timeout`, `--idle-timeout`) every flag of `holdfast open`.
// Data alone: schema.ts says what a value must be, docs/config.md explains; tests compare all three.

import type { SessionSettings } from './settings.js';

export type KeyGroup = 'What is entered' | 'Variables (each may be repeated)' | 'Life' | 'Identity' | 'Wrap, for mode wrap alone';

const ENTRY = 'What is entered';
const VARIABLES = 'Variables (each may be repeated)';
const LIFE = 'Life';
const IDENTITY = 'Identity';
const WRAP = 'Wrap, for mode wrap alone';

export interface KeyInfo {
  /** The value in `--help`. */
  readonly placeholder: string;
  /** What it does, for `--help`. */
  readonly about: string;
  /** How often and how the flag is given: once; once per item (text, numbers); once per K=V pair;
   * gathered: once per K=V, which make a list where K is the same, and K alone for true; without a value, for true. */
  readonly flag: 'once' | 'count' | 'each' | 'counts' | 'pairs' | 'gathered' | 'switch';
  /** Under which heading of `--help`. */
  readonly group: KeyGroup;
  /** The default as docs/config.md shows it. */
  readonly fallback: string;
}

export const SESSION_KEYS: Readonly<Record<keyof SessionSettings, KeyInfo>> = {
  extends: { group: ENTRY, placeholder: 'FILE', flag: 'once', fallback: '', about: 'begin with the session of a file, or with FILE#NAME' },
  mode: { group: ENTRY, placeholder: 'MODE', flag: 'once', fallback: 'session', about: 'host, snapshot, session (default) or wrap' },
  launcher: { group: ENTRY, placeholder: 'WORD', flag: 'each', fallback: '', about: 'one word of the launcher; all of them go after --' },
  launcher_style: {
    group: ENTRY,
    placeholder: 'STYLE',
    flag: 'once',
    fallback: 'words',
    about: 'words: the agent is appended to the launcher as words; string: as one shell-quoted word (nix-shell --run, su -c)',
  },
  source: { group: ENTRY, placeholder: 'SCRIPT', flag: 'once', fallback: '', about: 'bash script to source' },
  source_command: { group: ENTRY, placeholder: 'WORD', flag: 'each', fallback: '', about: 'one word of a command that prints bash code' },
  provider: {
    group: ENTRY,
    placeholder: 'P',
    flag: 'once',
    fallback: 'by file',
    about: 'a tool that Holdfast knows: nix-develop, direnv …',
  },
  env: { group: VARIABLES, placeholder: 'K=V', flag: 'pairs', fallback: '{}', about: 'set a variable for every command' },
  runtime_env: {
    group: VARIABLES,
    placeholder: 'K=V',
    flag: 'pairs',
    fallback: '{}',
    about: 'the same, without being part of the identity',
  },
  pass_env: {
    group: VARIABLES,
    placeholder: 'K',
    flag: 'each',
    fallback: '[]',
    about: "pass a variable as it is now; '*': all, weaker than the environment",
  },
  runtime_pass_env: {
    group: VARIABLES,
    placeholder: 'K',
    flag: 'each',
    fallback: '[]',
    about: "pass the caller's variable, read at each command",
  },
  launch_pass_env: { group: VARIABLES, placeholder: 'K', flag: 'each', fallback: '[]', about: 'let the launcher itself see a variable' },
  path_prepend: { group: VARIABLES, placeholder: 'DIR', flag: 'each', fallback: '[]', about: 'put a directory in front of PATH' },
  functions: {
    group: VARIABLES,
    placeholder: 'GLOB',
    flag: 'each',
    fallback: 'all',
    about: "a shell function that commands are to get: all, none, or globs such as 'my-*'",
  },
  inputs: {
    group: LIFE,
    placeholder: 'FILE',
    flag: 'each',
    fallback: "the provider's",
    about: 'a file that the environment is made of (may be repeated)',
  },
  on_stale: { group: LIFE, placeholder: 'WHAT', flag: 'once', fallback: 'reopen', about: 'when an input changed: reopen, warn or refuse' },
  idle_timeout: {
    group: LIFE,
    placeholder: 'DUR',
    flag: 'once',
    fallback: '1h',
    about: 'close after this long without a command, or never',
  },
  open_timeout: { group: LIFE, placeholder: 'DUR', flag: 'once', fallback: '10m', about: 'how long the launcher may take' },
  kill_grace: { group: LIFE, placeholder: 'DUR', flag: 'once', fallback: '2s', about: 'from SIGTERM to SIGKILL' },
  max_concurrent: { group: LIFE, placeholder: 'N', flag: 'count', fallback: '0', about: 'commands at once; 0: no limit' },
  max_queue: { group: LIFE, placeholder: 'N', flag: 'count', fallback: '1024', about: 'commands that may wait for a turn' },
  job_output_limit: {
    group: LIFE,
    placeholder: 'SIZE',
    flag: 'once',
    fallback: '64M',
    about: "how much of a detached job's output is kept",
  },
  containment: {
    group: LIFE,
    placeholder: 'KIND',
    flag: 'once',
    fallback: 'auto',
    about: "how a command's processes are kept together: auto, cgroup, warden or group",
  },
  identity: { group: IDENTITY, placeholder: 'TEXT', flag: 'once', fallback: '', about: 'your own name for what the environment is' },
  volatile: {
    group: IDENTITY,
    placeholder: 'K',
    flag: 'each',
    fallback: '[]',
    about: "a variable that differs at each opening: no part of the fingerprint; 'K*': all that begin so",
  },
  preset: {
    group: WRAP,
    placeholder: 'P',
    flag: 'once',
    fallback: '',
    about: 'a wrapper that Holdfast knows: docker, ssh, bubblewrap …',
  },
  options: { group: WRAP, placeholder: 'K=V', flag: 'gathered', fallback: '{}', about: 'an option of the preset' },
  prefix: { group: WRAP, placeholder: 'WORD', flag: 'each', fallback: '', about: 'one word of what is put in front of a command' },
  operand: { group: WRAP, placeholder: 'WORD', flag: 'each', fallback: '[]', about: "one word after the prefix's options (the container)" },
  env_style: {
    group: WRAP,
    placeholder: 'STYLE',
    flag: 'once',
    fallback: 'inherit',
    about: 'inherit, option, option-by-name, setenv, env-command or remote-shell',
  },
  env_option: { group: WRAP, placeholder: 'OPT', flag: 'once', fallback: '-e or --setenv', about: "the prefix's option for a variable" },
  cwd_option: { group: WRAP, placeholder: 'OPT', flag: 'once', fallback: '', about: "the prefix's option for the directory" },
  tty_option: {
    group: WRAP,
    placeholder: 'WORD',
    flag: 'each',
    fallback: '[]',
    about: 'one word for the prefix when the command is on a terminal',
  },
  end_of_options: {
    group: WRAP,
    placeholder: 'WORD',
    flag: 'once',
    fallback: '',
    about: 'what ends the options of the prefix, such as --',
  },
  command_style: {
    group: WRAP,
    placeholder: 'STYLE',
    flag: 'once',
    fallback: 'words',
    about: 'words, or string: the command is one word, for a shell inside',
  },
  path_map: { group: WRAP, placeholder: 'HOST=INSIDE', flag: 'pairs', fallback: '{}', about: 'a directory that has another path inside' },
  map_argv: { group: WRAP, placeholder: '', flag: 'switch', fallback: 'false', about: "map the paths among a command's words, too" },
  failure_codes: { group: WRAP, placeholder: 'N', flag: 'counts', fallback: '[]', about: 'an exit code by which the prefix itself fails' },
  far_side: {
    group: WRAP,
    placeholder: 'HOW',
    flag: 'once',
    fallback: 'marker',
    about: 'how what runs inside is ended: marker, local (with the prefix) or none',
  },
  kill: { group: WRAP, placeholder: 'WORD', flag: 'each', fallback: '', about: 'one word of a command that ends what runs inside' },
  start: {
    group: WRAP,
    placeholder: 'WORD',
    flag: 'each',
    fallback: '',
    about: 'one word of a command that makes, at the opening, what is entered; its last line is {id}',
  },
  stop: { group: WRAP, placeholder: 'WORD', flag: 'each', fallback: '', about: 'one word of a command that ends it with the session' },
};

/** In the order of `--help` and of docs/config.md. */
export const SESSION_KEY_NAMES: readonly string[] = Object.keys(SESSION_KEYS);

/** `idle_timeout` → `--idle-timeout`. */
export function flagOf(key: string): string {
  return `--${key.replaceAll('_', '-')}`;
}
