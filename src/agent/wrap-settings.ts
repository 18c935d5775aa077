// The wrapper of a session as its opener wrote it down: placeholders filled, and all text as latin1, one character a byte, as the agent
// has everything that may be bytes.

import { parseDefinition } from '../session/definition.js';
import type { WrapDefinition } from '../wrap/definition.js';
import { fillPlaceholders } from '../wrap/placeholders.js';
import { type AgentSettings, toLatin1 } from './settings.js';

/** @throws Error when the record has none: the opener reports it. */
export function wrapOf({ definition, held }: AgentSettings): { wrap: WrapDefinition; isEntered: boolean } {
  const { wrap, launch } = parseDefinition(definition);
  if (wrap === undefined) throw new Error("the session's record has no wrapper");
  const words = (list: readonly string[]): string[] => (held === undefined ? list : fillPlaceholders(list, held)).map(toLatin1);
  return {
    wrap: {
      ...wrap,
      prefix: words(wrap.prefix),
      operand: words(wrap.operand),
      ttyOption: words(wrap.ttyOption),
      ...(wrap.kill === undefined ? {} : { kill: words(wrap.kill) }),
      ...(wrap.envOption === undefined ? {} : { envOption: toLatin1(wrap.envOption) }),
      ...(wrap.cwdOption === undefined ? {} : { cwdOption: toLatin1(wrap.cwdOption) }),
      ...(wrap.endOfOptions === undefined ? {} : { endOfOptions: toLatin1(wrap.endOfOptions) }),
      pathMap: Object.fromEntries(Object.entries(wrap.pathMap).map(([host, inside]) => [toLatin1(host), toLatin1(inside)])),
    },
    // The entry shim itself, which enters nothing.
    isEntered: launch.style !== 'enter' || launch.argv.length > 0,
  };
}
