// What an open session's environment is made of, from those who know: the agent what was captured, the record what was declared,
// this process what a command that is run from here brings along. `runner-exec` run here with the same options gives the same.

import * as v from 'valibot';

import { type Caller, initialCaller } from '../client/caller.js';
import { HoldfastError } from '../errors.js';
import { isTty } from '../native/descriptors.js';
import { control } from '../session/control.js';
import type { SessionDefinition } from '../session/definition.js';
import { bytesOf } from '../session/host-environment.js';
import { type Identity, identityOfRecord } from '../session/identity.js';
import { readOpened } from '../session/opened.js';
import type { SessionRecord } from '../session/record.js';
import { inheritsEnvironment } from '../wrap/definition.js';
import type { Layers, Source } from './explanation.js';
import type { EnvOption } from './runner-exec-options.js';
import { changesOf } from './runner-exec-request.js';

const TIMEOUT_MS = 5000;

const pairs = v.array(v.tuple([v.string(), v.string()]));
const ANSWER = v.object({
  captured: pairs,
  isElsewhere: v.optional(v.boolean(), false),
  absent: v.array(
    v.object({
      kind: v.picklist(['function', 'variable']),
      name: v.string(),
      why: v.picklist(['filtered', 'snapshot', 'lost-directory']),
    }),
  ),
});

/** As on the command line of runner-exec. */
export interface ExplainedRequest {
  readonly env: readonly EnvOption[];
  readonly exact: boolean;
}

export interface SessionLayers {
  readonly layers: Layers;
  readonly definition: SessionDefinition;
  readonly identity: Identity;
  /** Milliseconds of the epoch; for mode "snapshot". */
  readonly snapshotTakenAt: number | undefined;
  /** The environment of commands is made elsewhere, behind a prefix: what is known is what is set there. */
  readonly isElsewhere: boolean;
}

/** @throws {HoldfastError} `NO_SESSION`, and as `control`. */
export async function sessionLayers(name: string, request: ExplainedRequest): Promise<SessionLayers> {
  const answer = v.safeParse(ANSWER, await control(name, { op: 'environment', protocol: 1 }, { timeoutMs: TIMEOUT_MS }));
  if (!answer.success) {
    throw new HoldfastError('PROTOCOL', `the environment of session '${name}' is not understood`, {
      hint: 'close the session and open it again with this version of Holdfast',
    });
  }
  const { record } = readOpened(name);
  const { definition } = record;
  const caller = initialCaller();
  const { wrap } = definition;
  const isElsewhere = answer.output.isElsewhere || (wrap !== undefined && !inheritsEnvironment(wrap));
  return {
    definition,
    identity: identityOfRecord(record),
    snapshotTakenAt: record.snapshot?.takenAt,
    isElsewhere,
    layers: {
      weak: isElsewhere ? [] : record.weak,
      captured: isElsewhere ? [] : answer.output.captured,
      launched: new Map(record.launched ?? []),
      declared: declaredOf(record),
      pathPrepend: definition.pathPrepend.map(bytesOf),
      absent: answer.output.absent,
      changes: requestChanges(definition, request, caller),
      exact: request.exact,
      directory: caller.directory?.toString('latin1') ?? '',
      caller: new Map([...caller.variables.entries()].map(([key, value]) => [latin1(key), latin1(value)])),
    },
  };
}

function requestChanges(definition: SessionDefinition, { env, exact }: ExplainedRequest, caller: Caller): ReturnType<typeof changesOf> {
  const passNames = Buffer.from(definition.runtimePassEnv.map((each) => `${each}\n`).join(''));
  const context = { caller, jobserver: { there: false, fds: [] }, seesTerminal: [0, 1, 2].some(isTty), passNames };
  return changesOf({ env: [...env], exact }, context, caller.directory);
}

/** The record has the values, the definition says who gave them. Where both gave the same value, the declared one is named. */
function declaredOf({ declared, definition }: SessionRecord): [name: string, value: string, from: Source][] {
  const tables: [Source, Readonly<Record<string, string>>][] = [
    ['runtime_env', definition.runtimeEnv],
    ['env', definition.env],
  ];
  return declared.map(([name, value]) => {
    const text = Buffer.from(name, 'latin1').toString();
    const table = tables.find(([, variables]) => Object.hasOwn(variables, text) && bytesOf(variables[text] ?? '') === value);
    return [name, value, table?.[0] ?? 'pass_env'];
  });
}

function latin1(text: Buffer | string): string {
  return Buffer.from(text).toString('latin1');
}
