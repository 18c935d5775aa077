// Shell functions in an environment: bash carries each as a variable of its own. Which are there, and which a session keeps
// (`functions` of holdfast.toml). Pure. Names are latin1, one character a byte, unless said otherwise.

/** bash since 4.3; the second form is that of some older systems. */
const CARRIER = /^BASH_FUNC_(.+)(?:%%|\(\))$/s;

export type FunctionFilter = 'all' | 'none' | readonly string[];

/** The function that the variable `name` carries. */
export function functionOf(name: string): string | undefined {
  return CARRIER.exec(name)?.[1];
}

/** Whether a session keeps a function. Its globs know `*`, `?`, `[abc]`, `[!a-z]` and `\`, and are for the whole name. */
export function functionMatcher(filter: FunctionFilter): (name: string) => boolean {
  if (filter === 'all') return () => true;
  if (filter === 'none') return () => false;
  const globs = filter.flatMap((glob) => compileGlob(glob) ?? []);
  return (name) => globs.some((glob) => glob.test(textOf(name)));
}

/** `undefined` when it can match nothing, as a set from z to a, or asks for a class or a collating symbol, as `[[:alpha:]]`. */
export function compileGlob(glob: string): RegExp | undefined {
  try {
    return new RegExp(`^${patternOf(glob)}$`, 'su');
  } catch {
    return undefined;
  }
}

/** How many functions there are, and what they add to the environment of every command: their bytes, with `=` and the final NUL. */
export function functionCost(variables: Iterable<readonly [name: string, value: string]>): { count: number; bytes: number } {
  let count = 0;
  let bytes = 0;
  for (const [name, value] of variables) {
    if (functionOf(name) === undefined) continue;
    count++;
    bytes += name.length + value.length + 2;
  }
  return { count, bytes };
}

/** A glob as a regular expression. Characters, not bytes, are matched: `?` is one `ö`. An open `[` stands for itself, as in a shell. */
function patternOf(glob: string): string {
  let pattern = '';
  for (let at = 0; at < glob.length; ) {
    // What comes first in a set is a member of it, also a `]`; so `[!]` is no set.
    const set = /^\[(?:([!^])|(?![!^]))((?:\\.|[^\\])(?:\\.|[^\]\\])*)\]/su.exec(glob.slice(at));
    if (set !== null) {
      const [whole, not = '', members = ''] = set;
      if (/\[[.=:]/.test(members)) throw new SyntaxError('a class in a set');
      pattern += `[${not === '' ? '' : '^'}${setMembers(members)}]`;
      at += whole.length;
      continue;
    }
    const character = String.fromCodePoint(glob.codePointAt(at) ?? 0);
    const next = glob.codePointAt(at + 1);
    at += character.length;
    if (character === '*') pattern += '.*';
    else if (character === '?') pattern += '.';
    else if (character === '\\' && next !== undefined) {
      const escaped = String.fromCodePoint(next);
      pattern += literal(escaped);
      at += escaped.length;
    } else pattern += literal(character);
  }
  return pattern;
}

function setMembers(members: string): string {
  // Ranges keep their hyphen; whatever else a regular expression gives a meaning to inside a set loses it.
  return members
    .replace(/\\(.)/gsu, '$1')
    .replace(/[\]\\^[]/g, '\\$&')
    .replace(/^-|-$/g, '\\-');
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&');
}

/** As a person would read it; what is not UTF-8 stays one character a byte. */
function textOf(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}
