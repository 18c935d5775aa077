// Which line of a launcher's output says why it ended.

/** A compiler's picture of the place: a line of source with its number, or what points at it. */
const PICTURE = /^\s*\d*\s*\||^[^\p{L}\p{N}]*$/u;

/** The launcher's own words go before ours about it, and the error before the picture of its place. @param output its last lines. */
export function lastWords(output: readonly string[]): string | undefined {
  const own = output.filter((line) => !line.startsWith('holdfast: '));
  const last = own.at(-1) ?? output.at(-1);
  if (last === undefined || !PICTURE.test(last)) return last?.trim();
  const said = own.findLast((line) => /^\s*error\b/i.test(line)) ?? own.findLast((line) => !PICTURE.test(line)) ?? last;
  return said.trim();
}
