// Which line of a launcher's output says why it ended.

/** A picture of the place (a line of source with its number, what points at it), or where to read on. */
const ASIDE = /^\s*\d*\s*\||: line \d+: `.*'$|^[^\p{L}\p{N}]*$|^(?:Run|See|Try|Usage:) .*(?:--help|-h)\b/u;

/** The launcher's own words go before ours about it, and the error before what follows on it. @param output its last lines. */
export function lastWords(output: readonly string[]): string | undefined {
  const own = output.filter((line) => !line.startsWith('holdfast: '));
  const last = own.at(-1) ?? output.at(-1);
  if (last === undefined || !ASIDE.test(last)) return last?.trim();
  const said = own.findLast((line) => /^\s*error\b/i.test(line)) ?? own.findLast((line) => !ASIDE.test(line)) ?? last;
  return said.trim();
}
