// The one line that is rewritten in place while an environment is entered. Only for a terminal; nobody else is told anything.

import { stripVTControlCharacters } from 'node:util';

/** Often enough to look alive, seldom enough to cost nothing. */
const REDRAW_MS = 100;
/** For a terminal that does not know its width, or says 0. */
const UNKNOWN_COLUMNS = 80;

export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export class ProgressLine {
  readonly #target: ProgressTarget;
  readonly #name: string;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #lastLine = '';
  #drawn = false;

  /** Draws at once, then by itself, until `end`. Draws nothing when `target` is no terminal. */
  constructor(target: ProgressTarget, name: string) {
    this.#target = target;
    this.#name = name;
    if (target.isTTY !== true) return;
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
    // The line is company, never a reason to stay.
    this.#timer.unref();
  }

  /** The launcher's last line of output. */
  say(line: string): void {
    this.#lastLine = line;
  }

  /** Writes a line of its own, terminal or not; the progress goes on below it. */
  interrupt(text: string): void {
    if (this.#drawn) this.#target.write('\r\x1b[K');
    this.#drawn = false;
    this.#target.write(text);
  }

  /** Clears the line. A second call does nothing. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#drawn) this.#target.write('\r\x1b[K');
    this.#drawn = false;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#startedAt;
    this.#target.write(`\r${progressText(this.#name, elapsedMs, this.#lastLine, this.#target.columns || UNKNOWN_COLUMNS)}\x1b[K`);
    this.#drawn = true;
  }
}

/** The text of the line, in at most `columns - 1` columns: a full line would wrap and could not be rewritten. */
export function progressText(name: string, elapsedMs: number, lastLine: string, columns: number): string {
  const seconds = (elapsedMs / 1000).toFixed(1);
  const said = printable(lastLine);
  return truncate(`holdfast: entering '${printable(name)}' ${seconds} s${said === '' ? '' : `: ${said}`}`, Math.max(1, columns - 1));
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
