// Definitions are text, and the rewriting works on bytes: latin1, one character a byte. The way from one to the other. Pure.

import type { WrapDefinition } from './definition.js';
import { fillPlaceholders, type HeldFacts } from './placeholders.js';

export function toLatin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** For people: bytes that are no UTF-8 are lost. */
export function fromLatin1(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** With the placeholders of what is held filled in, and all text as bytes. */
export function filledWrap(wrap: WrapDefinition, held: HeldFacts | undefined): WrapDefinition {
  const words = (list: readonly string[]): string[] => (held === undefined ? [...list] : fillPlaceholders(list, held)).map(toLatin1);
  const { kill, envOption, cwdOption, endOfOptions } = wrap;
  return {
    ...wrap,
    prefix: words(wrap.prefix),
    operand: words(wrap.operand),
    ttyOption: words(wrap.ttyOption),
    ...(kill === undefined ? {} : { kill: words(kill) }),
    ...(envOption === undefined ? {} : { envOption: toLatin1(envOption) }),
    ...(cwdOption === undefined ? {} : { cwdOption: toLatin1(cwdOption) }),
    ...(endOfOptions === undefined ? {} : { endOfOptions: toLatin1(endOfOptions) }),
    pathMap: Object.fromEntries(Object.entries(wrap.pathMap).map(([host, inside]) => [toLatin1(host), toLatin1(inside)])),
  };
}
