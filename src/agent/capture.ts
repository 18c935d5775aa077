// What the entry shim saw inside the environment before Node started (native/enter.c): the base environment as bytes, and the
// attributes that Node changes or that targets must get as the launcher had them. DESIGN section 3 item 10, section 4.

export interface Capture {
  /** Name and value as latin1 strings, one character a byte, in the order of the environ; the first of a doubled name wins. */
  environment: ReadonlyMap<string, string>;
  /** (resource, soft, hard) by RLIMIT number; Infinity: no limit. */
  limits: ReadonlyArray<readonly [resource: number, soft: number, hard: number]>;
  umask: number;
  nice: number;
  /** Where the launcher stood, latin1. */
  cwd: string;
}

const FIRST_LINE = 'HOLDFAST-CAPTURE 1\n';
const LAST_LINE = 'environ\n';

function limitOf(word: string | undefined): number {
  return word === 'infinity' ? Number.POSITIVE_INFINITY : Number(word);
}

/** @throws Error when the bytes are not those of our shim: a mixed installation. */
export function parseCapture(bytes: Buffer): Capture {
  const text = bytes.toString('latin1');
  if (!text.startsWith(FIRST_LINE)) throw new Error('the entry shim and the agent are of different versions');
  const limits: [number, number, number][] = [];
  const capture = { umask: 0o022, nice: 0, cwd: '/' };
  let at = FIRST_LINE.length;
  while (!text.startsWith(LAST_LINE, at)) {
    const end = text.indexOf('\n', at);
    if (end === -1) throw new Error('the capture of the entry shim is cut');
    const [key, ...words] = text.slice(at, end).split(' ');
    at = end + 1;
    if (key === 'umask') capture.umask = Number.parseInt(words[0] ?? '', 8);
    else if (key === 'nice') capture.nice = Number(words[0]);
    else if (key === 'rlimit') limits.push([Number(words[0]), limitOf(words[1]), limitOf(words[2])]);
    else if (key === 'cwd') {
      // Its length is given, since a directory's name may hold a line end.
      const length = Number(words[0]);
      const from = end - words.slice(1).join(' ').length;
      capture.cwd = text.slice(from, from + length);
      at = from + length + 1;
    }
  }
  return { ...capture, limits, environment: parseEnviron(text.slice(at + LAST_LINE.length)) };
}

/** `NAME=VALUE` strings, each ended by a NUL. Strings without a name are dropped, as no program can see them. */
export function parseEnviron(text: string): Map<string, string> {
  const variables = new Map<string, string>();
  for (const entry of text.split('\0')) {
    const equals = entry.indexOf('=', 1);
    if (equals === -1) continue;
    const name = entry.slice(0, equals);
    if (!variables.has(name)) variables.set(name, entry.slice(equals + 1));
  }
  return variables;
}
