// Words for a POSIX shell. Pure; text is latin1, one character a byte, so every byte survives but NUL, which no word can hold.

/** One word, whatever is in it: newlines, quotes, bytes that are no text. */
export function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

/** Whether a shell can have a variable of that name. */
export function isShellName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}
