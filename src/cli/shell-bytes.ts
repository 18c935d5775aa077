// Bytes for a person to read and a shell to take back: no control character, no escape sequence and no broken UTF-8 reaches the
// terminal as it is. Pure. Text is latin1, one character a byte.

/** As it stands in a sentence or list: what is harmless as it is, all else as `\n` or `\377`. */
export function visibleBytes(latin1: string): string {
  return charactersOf(latin1)
    .map(({ text, bytes }) => text ?? escaped(bytes))
    .join('');
}

/** Likewise, of text: a session's name, a file's, a key. */
export function visibleText(text: string): string {
  return visibleBytes(Buffer.from(text).toString('latin1'));
}

/** One word of bash, that means exactly these bytes. */
export function shellBytes(latin1: string): string {
  const characters = charactersOf(latin1);
  if (characters.some(({ text }) => text === undefined)) {
    return `$'${characters.map(({ text, bytes }) => (text === undefined ? escaped(bytes) : text.replace(/[\\']/, '\\$&'))).join('')}'`;
  }
  const word = characters.map(({ text }) => text).join('');
  return word !== '' && /^[A-Za-z0-9@%+=:,./_^-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What a reader may take for text; what is not UTF-8 stays one character a byte. */
export function textOfBytes(latin1: string): { readonly text: string; readonly isText: boolean } {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return Buffer.from(text).toString('latin1') === latin1 ? { text, isText: true } : { text: latin1, isText: false };
}

interface Character {
  /** Absent: not to be shown as it is. */
  readonly text?: string;
  readonly bytes: string;
}

/** Well-formed UTF-8 sequences, and single bytes where there is none. */
const SEQUENCES = /[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;
/** Controls of both sets, what is invisible or turns the direction of writing, line ends, and what no font has. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/u;

function charactersOf(latin1: string): Character[] {
  return (latin1.match(SEQUENCES) ?? []).map((bytes) => {
    const { text, isText } = textOfBytes(bytes);
    return isText && !UNSHOWN.test(text) ? { text, bytes } : { bytes };
  });
}

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\x1b': '\\E' };

/** Octal: always three digits, so that what follows cannot be taken for one more. */
function escaped(bytes: string): string {
  return Array.from(bytes, (byte) => NAMED[byte] ?? `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`).join('');
}
