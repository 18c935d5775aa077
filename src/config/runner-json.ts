// runner.json: how heph, and any other tool, says where a command is to run. Read here; runner-json-writer.ts makes one of an open
// session. docs/config.md "runner.json" has every member.

import { dirname, resolve } from 'node:path';

import { HoldfastError } from '../errors.js';
import { findNearest } from './nearest.js';
import { checkSettings } from './schema.js';
import type { SessionSettings } from './settings.js';

export const RUNNER_JSON_VERSION = 1;
export const RUNNERS = ['local', 'wrap', 'session'] as const;
export type RunnerName = (typeof RUNNERS)[number];

export interface RunnerJson {
  readonly version: typeof RUNNER_JSON_VERSION;
  /** Not empty: what the environment is, for the key of a cache. */
  readonly fingerprint: string;
  readonly runner: RunnerName;
  readonly config: {
    /** `session`: enters the environment, with the command behind it. */
    readonly launch?: readonly string[];
    /** `session`: where `launch` runs. */
    readonly cwd?: string;
    /** `wrap`: what is put in front of each command. */
    readonly prefix?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly runtime_pass_env?: readonly string[];
  };
}

export interface RunnerSettings {
  readonly settings: SessionSettings;
  /** Absolute: where the launcher runs. */
  readonly directory: string;
}

const MEMBERS = ['version', 'fingerprint', 'runner', 'config'];
/** Member of `config` → the key of a session that it is. */
const CONFIG_KEYS: Readonly<Record<RunnerName, Readonly<Record<string, keyof SessionSettings>>>> = {
  local: { env: 'env', runtime_pass_env: 'runtime_pass_env' },
  wrap: { prefix: 'prefix', env: 'env', runtime_pass_env: 'runtime_pass_env' },
  session: { launch: 'launcher', env: 'env', runtime_pass_env: 'runtime_pass_env' },
};

export function isRunnerJson(path: string, text: string): boolean {
  return path.endsWith('.json') || /^\ufeff?\s*\{/.test(text);
}

/**
 * What a runner.json says, as the settings of a session. Its fingerprint is the session's identity.
 *
 * @throws {HoldfastError} `CONFIG_INVALID`, at the line of what is wrong.
 */
export function parseRunnerJson(path: string, text: string): RunnerSettings {
  const source = new Source(path, text);
  const document = source.parse();
  const { version, fingerprint, runner, config = {} } = document;
  if (version !== RUNNER_JSON_VERSION) {
    const said = version === undefined ? 'is missing' : `is ${JSON.stringify(version)}`;
    const hint = `write it anew with a tool that writes version ${RUNNER_JSON_VERSION}, or read it with a Holdfast that knows the other one`;
    throw source.fault('version', `'version' ${said}: this Holdfast reads version ${RUNNER_JSON_VERSION}, and no other`, hint);
  }
  source.refuseUnknown(document, MEMBERS, 'at the top');
  if (typeof fingerprint !== 'string' || fingerprint.trim() === '' || fingerprint.includes('\0')) {
    const hint = "it says what the environment is, so that a cache notices when it changes: 'holdfast fingerprint' prints one";
    throw source.fault('fingerprint', `'fingerprint' must be text that is not empty${gotten(fingerprint)}`, hint);
  }
  const known = RUNNERS.find((name) => name === runner);
  if (known === undefined) {
    const nearest = typeof runner === 'string' ? findNearest(runner, RUNNERS) : undefined;
    const hint = nearest === undefined ? 'other runners belong to the tool that wrote it' : `did you mean "${nearest}"?`;
    throw source.fault('runner', `'runner' must be one of ${RUNNERS.map((name) => `"${name}"`).join(', ')}${gotten(runner)}`, hint);
  }
  if (!isTable(config))
    throw source.fault('config', `'config' must be an object${gotten(config)}`, 'such as { "launch": ["devenv", "shell", "--"] }');
  return { settings: { ...settingsOf(known, config, source), identity: fingerprint }, directory: directoryOf(known, config, source) };
}

function settingsOf(runner: RunnerName, config: Record<string, unknown>, source: Source): SessionSettings {
  const keys = CONFIG_KEYS[runner];
  const own = [...Object.keys(keys), ...(runner === 'session' ? ['cwd'] : [])];
  source.refuseUnknown(config, own, `in the config of runner "${runner}"`);
  if (runner === 'session' && config['launch'] === undefined) {
    throw source.fault(
      'config',
      `'config.launch' is missing: runner "session" enters an environment with it`,
      'such as ["devenv", "shell", "--"]',
    );
  }
  const isBare = Array.isArray(config['prefix']) && config['prefix'].length === 0;
  const said = Object.entries(keys).filter(([member]) => config[member] !== undefined && !(member === 'prefix' && isBare));
  const checked = checkSettings(Object.fromEntries(said.map(([member, key]) => [key, config[member]])));
  if ('faults' in checked) {
    const [fault] = checked.faults;
    if (fault === undefined) throw new Error('a failed check without a fault');
    const [key = '', ...rest] = fault.path;
    const member = said.find(([, each]) => each === key)?.[0] ?? key;
    const name = ['config', member, ...rest].join('.');
    throw source.fault(member, `'${name}' must be ${fault.expected}${gotten(fault.received)}`, 'docs/config.md describes runner.json');
  }
  // With nothing in front of it, a command runs here.
  const mode = runner === 'session' ? 'session' : checked.settings.prefix === undefined ? 'host' : 'wrap';
  return { ...checked.settings, mode };
}

function directoryOf(runner: RunnerName, config: Record<string, unknown>, source: Source): string {
  const cwd = runner === 'session' ? (config['cwd'] ?? '.') : '.';
  if (typeof cwd === 'string' && cwd !== '' && !cwd.includes('\0')) return resolve(dirname(resolve(source.path)), cwd);
  throw source.fault('cwd', `'config.cwd' must be a directory in quotes${gotten(cwd)}`, 'a relative one is seen from the file');
}

/** A text with the way to say where in it something is wrong. */
class Source {
  readonly path: string;
  readonly #text: string;

  constructor(path: string, text: string) {
    this.path = path;
    this.#text = text;
  }

  parse(): Record<string, unknown> {
    let document: unknown;
    try {
      // Some editors begin a file with a mark of its encoding.
      document = JSON.parse(this.#text.replace(/^\ufeff/, ''));
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      const at = /position (\d+)/.exec(message)?.[1];
      const line = at === undefined ? this.#text.split('\n').length : this.#text.slice(0, Number(at)).split('\n').length;
      const what = message.replace(/ in JSON.*$/s, '');
      throw new HoldfastError('CONFIG_INVALID', `${this.path}:${line}: not valid JSON: ${what}`, {
        hint: 'a runner.json is one object; a holdfast.toml does not begin with {',
        cause,
      });
    }
    if (isTable(document)) return document;
    throw this.fault('', 'a runner.json must be an object', 'docs/config.md describes runner.json');
  }

  refuseUnknown(table: Record<string, unknown>, known: readonly string[], where: string): void {
    const unknown = Object.keys(table).find((key) => !known.includes(key));
    if (unknown === undefined) return;
    const nearest = findNearest(unknown, known);
    throw this.fault(
      unknown,
      `unknown member '${unknown}' ${where}`,
      nearest === undefined ? `there are ${known.join(', ')}` : `did you mean '${nearest}'?`,
    );
  }

  /** At the first line that has the member; it is only to be found by eye. */
  fault(member: string, message: string, hint: string): HoldfastError {
    const lines = this.#text.split('\n');
    const line = lines.findIndex((each) => each.includes(`${JSON.stringify(member)}`)) + 1;
    return new HoldfastError('CONFIG_INVALID', `${this.path}:${line || 1}: ${message}`, { hint });
  }
}

function gotten(value: unknown): string {
  if (value === undefined) return ', and is missing';
  const shown = textOf(value);
  return `, not ${shown.length > 60 ? `${shown.slice(0, 57)}...` : shown}`;
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'what is nested too deeply to be shown';
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
