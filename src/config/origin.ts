// What was once asked of `holdfast open`, as the record of the session keeps it: to choose the session again from the same sources.

import * as v from 'valibot';

import type { OpenRequest } from './choose.js';
import type { SessionSettings } from './settings.js';

const ORIGIN = v.object({
  name: v.optional(v.string()),
  config: v.optional(v.string()),
  project: v.optional(v.string()),
  // Checked when it was said, and since then in a file of our own: durations are numbers by now.
  settings: v.custom<SessionSettings>((input) => typeof input === 'object' && input !== null),
});

/** `undefined`: the session was opened by a program, or by another version. */
export function findOrigin(recorded: unknown): OpenRequest | undefined {
  const parsed = v.safeParse(ORIGIN, recorded);
  if (!parsed.success) return undefined;
  const { name, config, project, settings } = parsed.output;
  return { name, config, project, settings };
}
