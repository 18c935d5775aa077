// The types of a command, for programs that no type checker has looked at: what is wrong is said in their own terms, before anything
// is opened, and not from somewhere within.

import { types } from 'node:util';

import { HoldfastError } from '../errors.js';

/** @param kind `'text'` where it is prepared for a spawner, which takes no Buffer. @throws {HoldfastError} `REQUEST_INVALID`. */
export function checkCommand(command: unknown, kind: 'bytes' | 'text'): void {
  if (typeof command !== 'object' || command === null) {
    throw new HoldfastError('REQUEST_INVALID', `a command must be an object, not ${shown(command)}`, {
      hint: "as in { program: 'make', args: ['-j8'] }",
    });
  }
  const of = (key: string): unknown => Reflect.get(command, key);
  const what = kind === 'text' ? 'text' : 'text or a Buffer';
  const isWord = (value: unknown): boolean => typeof value === 'string' || (kind === 'bytes' && types.isUint8Array(value));
  const checkWords = (key: string): void => {
    const value = of(key);
    if (isAbsent(value)) return;
    if (!Array.isArray(value)) throw invalid(key, `a list of ${what}`, value);
    const wrong = value.findIndex((word) => !isWord(word));
    if (wrong !== -1) throw invalid(`${key}[${wrong}]`, what, value[wrong]);
  };
  if (!isWord(of('program'))) throw invalid('program', what, of('program'));
  for (const key of ['argv0', 'cwd']) if (of(key) !== undefined && !isWord(of(key))) throw invalid(key, what, of(key));
  for (const key of ['args', 'pathPrepend']) checkWords(key);
  const passEnv = of('passEnv');
  if (!isAbsent(passEnv) && !(Array.isArray(passEnv) && passEnv.every((name) => typeof name === 'string'))) {
    throw invalid('passEnv', 'a list of names', passEnv);
  }
  const env = of('env');
  if (!isAbsent(env)) {
    if (typeof env !== 'object' || Array.isArray(env) || types.isMap(env))
      throw invalid('env', "an object, as in { CGO_ENABLED: '0' }", env);
    for (const [name, value] of Object.entries(env)) {
      if (value !== undefined && !isWord(value)) throw invalid(`env.${name}`, `${what}, or undefined to leave it out`, value);
    }
  }
  const signal = of('signal');
  if (!isAbsent(signal) && !isAbortSignal(signal)) throw invalid('signal', 'an AbortSignal', signal);
}

/** As child_process takes it. */
function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Of whatever realm or library. */
export function isAbortSignal(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'throwIfAborted' in value && 'addEventListener' in value;
}

function invalid(key: string, wanted: string, value: unknown): HoldfastError {
  return new HoldfastError('REQUEST_INVALID', `'${key}' must be ${wanted}, not ${shown(value)}`);
}

/** Never long, and never a value that may be a secret: of text and of objects what they are. */
function shown(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return types.isUint8Array(value) ? 'a Buffer' : 'an object';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'function') return 'a function';
  return String(value);
}
