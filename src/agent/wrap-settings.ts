// The wrapper of a session as its opener wrote it down. Loaded by sessions that have one, and by no other.

import { isEntered, parseDefinition } from '../session/definition.js';
import type { WrapDefinition } from '../wrap/definition.js';
import { filledWrap } from '../wrap/text.js';
import type { AgentSettings } from './settings.js';

/** @throws Error when the record has none: the opener reports it. */
export function wrapOf({ definition, held }: AgentSettings): { wrap: WrapDefinition; isEntered: boolean } {
  const { wrap, launch } = parseDefinition(definition);
  if (wrap === undefined) throw new Error("the session's record has no wrapper");
  return { wrap: filledWrap(wrap, held), isEntered: isEntered(launch) };
}
