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

/** They mean something to one shell or another, as most names of a single word do: it may not take them, or change, or complain. */
const OF_SHELLS = /^(BASH|CHILD|COMP|HISTORY|KSH|LC|POSIXLY|PROMPT|READLINE|TRY|ZLE|ZSH)_/;

/** Whether a variable of that name is any other one to every shell: sh, bash, dash, busybox, ksh, zsh. Of others it is not said. */
export function isOrdinaryName(name: string): boolean {
  return /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(name) && !OF_SHELLS.test(name);
}
