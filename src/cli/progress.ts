// What a person sees while an environment is entered: on a terminal one line, rewritten in place; elsewhere nothing at first, and where it
// takes long, a line for each phase, so that a log tells what is waited for.

import { stripVTControlCharacters } from 'node:util';

import type { OpenPhase } from '../session/open.js';
import { type Style, styleFor } from './style.js';

/** Often enough to look alive, seldom enough to cost nothing. */
const REDRAW_MS = 100;
/** For a terminal that does not know its width, or says 0. */
const UNKNOWN_COLUMNS = 80;
/** Before that, an entry is not worth a line in a log. */
const LONG_MS = 10_000;
const SPINNER = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const PLAIN_SPINNER = [...'-\\|/'];

export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** `line`: rewritten in place; `phases`: a line each, once it takes long; `none`. HOLDFAST_PROGRESS says which, else the target does. */
export type ProgressMode = 'line' | 'phases' | 'none';

export function progressMode({ isTTY }: Pick<ProgressTarget, 'isTTY'>, env: Variables): ProgressMode {
  const asked = env['HOLDFAST_PROGRESS'];
  if (asked === 'none' || asked === 'phases') return asked;
  // A dumb terminal cannot go back to the beginning of its line and clear it.
  return isTTY === true && env['TERM'] !== 'dumb' ? 'line' : 'phases';
}

export class ProgressLine {
  readonly #target: ProgressTarget;
  readonly #name: string;
  readonly #mode: ProgressMode;
  readonly #style: Style;
  readonly #spinner: readonly string[];
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #lastLine = '';
  #phase: OpenPhase = 'entering';
  /** The phase that was last written, where each gets a line. */
  #told: OpenPhase | undefined;
  #drawn = false;
  #turns = 0;

  /** Draws by itself, until `end`. */
  constructor(target: ProgressTarget, name: string, env: Variables = process.env) {
    this.#target = target;
    this.#name = name;
    this.#mode = progressMode(target, env);
    this.#style = styleFor(target, env);
    this.#spinner = isUtf8(env) ? SPINNER : PLAIN_SPINNER;
    if (this.#mode === 'none') return;
    this.#timer = setInterval(() => (this.#mode === 'line' ? this.#draw() : this.#tell()), REDRAW_MS);
    // The line is company, never a reason to stay.
    this.#timer.unref();
  }

  /** The launcher's last line of output, or what is waited for. */
  say(line: string, phase: OpenPhase = 'entering'): void {
    this.#lastLine = line;
    this.#phase = phase;
  }

  /** Writes a line of its own, terminal or not; the progress goes on below it. */
  interrupt(text: string): void {
    this.#clear();
    this.#target.write(text);
  }

  /** Clears the line. A second call does nothing. */
  end(): void {
    clearInterval(this.#timer);
    this.#clear();
  }

  #clear(): void {
    if (this.#drawn) this.#target.write('\r\x1b[K');
    this.#drawn = false;
  }

  #draw(): void {
    const text = progressText(this.#name, this.#phase, performance.now() - this.#startedAt, this.#lastLine);
    const columns = this.#target.columns || UNKNOWN_COLUMNS;
    // Two for the spinner; and a full line would wrap, and could not be rewritten.
    const [head, said] = cut(text, Math.max(1, columns - 3));
    const turn = this.#spinner[this.#turns++ % this.#spinner.length] ?? '';
    this.#target.write(`\r${this.#style.cyan(turn)} ${head}${this.#style.dim(said)}\x1b[K`);
    this.#drawn = true;
  }

  #tell(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    if (elapsedMs < LONG_MS || this.#told === this.#phase) return;
    this.#told = this.#phase;
    this.#target.write(`${progressText(this.#name, this.#phase, elapsedMs, this.#lastLine).join('')}\n`);
  }
}

const PHASES: Readonly<Record<OpenPhase, string>> = {
  entering: 'entering',
  starting: 'starting',
  waiting: 'waiting for',
  draining: 'waiting for',
};

/** What is done, and what the launcher said last; both can be shown as they are. */
export function progressText(name: string, phase: OpenPhase, elapsedMs: number, lastLine: string): readonly [head: string, said: string] {
  const seconds = (elapsedMs / 1000).toFixed(1);
  const said = printable(lastLine);
  return [`holdfast: ${PHASES[phase]} '${printable(name)}' ${seconds} s`, said === '' ? '' : `: ${said}`];
}

/** In at most so many columns, the later part first. */
function cut([head, said]: readonly [string, string], columns: number): readonly [string, string] {
  const shown = truncate(head, columns);
  if (shown !== head) return [shown, ''];
  return [head, truncate(`${head}${said}`, columns).slice(head.length)];
}

function isUtf8(env: Variables): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((each) => each !== undefined && each !== '') ?? '';
  return /utf-?8/i.test(locale);
}

/** One line that cannot move the cursor: no escape sequence, no control character. */
export function printable(text: string): string {
  // A progress bar rewrites its own line with carriage returns: what stands after the last one is what a person would see.
  const visible = text.trimEnd().split('\r').at(-1) ?? '';
  return stripVTControlCharacters(visible)
    .replace(/\t/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim();
}

function truncate(text: string, columns: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += isWide(character) ? 2 : 1;
    if (used > columns) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** Near enough for a status line: East Asian scripts and emoji take two columns. */
function isWide(character: string): boolean {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u.test(
    character,
  );
}
