// Colour for people: on a terminal that can show it, unless NO_COLOR says that it is not wanted (no-color.org); FORCE_COLOR asks for it
// elsewhere. Programs are given --json, which has none.

export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** An empty variable says nothing. `FORCE_COLOR=0` is no. */
export function isColoured(stream: { readonly isTTY?: boolean }, env: Variables = process.env): boolean {
  const { NO_COLOR: no = '', FORCE_COLOR: force = '', TERM: term } = env;
  if (no !== '') return false;
  if (force !== '') return force !== '0' && force !== 'false';
  return stream.isTTY === true && term !== 'dumb';
}

export function styleFor(stream: { readonly isTTY?: boolean }, env: Variables = process.env): Style {
  return isColoured(stream, env) ? COLOURED : PLAIN;
}

const painted =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\x1b[${on}m${text}\x1b[${off}m`;
const same = (text: string): string => text;

const COLOURED: Style = {
  dim: painted(2, 22),
  bold: painted(1, 22),
  red: painted(31, 39),
  green: painted(32, 39),
  yellow: painted(33, 39),
  cyan: painted(36, 39),
};
export const PLAIN: Style = { dim: same, bold: same, red: same, green: same, yellow: same, cyan: same };
