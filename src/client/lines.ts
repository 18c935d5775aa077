// The lines of a stream, as they come. A reader that is slow makes the kernel's pipe full, and so the target wait.

import { StringDecoder } from 'node:string_decoder';

/**
 * The lines without their ends (`\n` or `\r\n`); the last one also where it has none. Invalid UTF-8 becomes U+FFFD. Whoever stops
 * reading early closes the stream, as `head` does: the target's next write gives it SIGPIPE.
 */
export async function* linesOf(stream: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = `${rest}${Buffer.isBuffer(chunk) ? decoder.write(chunk) : String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
  rest += decoder.end();
  if (rest !== '') yield rest;
}
