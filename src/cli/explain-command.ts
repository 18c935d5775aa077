// What `holdfast explain` prints: the explanation of one session, whole, of one variable, or as a difference; for people or programs.

import { findNearest } from '../config/nearest.js';
import { HoldfastError } from '../errors.js';
import { functionCost, functionOf } from '../session/functions.js';
import { bytesOf } from '../session/host-environment.js';
import type { ExplainOptions } from './explain.js';
import { type Difference, differenceOf } from './explain-diff.js';
import { formatAbsence, formatDifference, formatExplanation, formatVariable } from './explain-format.js';
import { absenceJson, differenceJson, variableJson } from './explain-json.js';
import { type ExplainedRequest, type SessionLayers, sessionLayers } from './explain-layers.js';
import { type Absence, type Explanation, explain, type Variable } from './explanation.js';
import { parseOptions } from './runner-exec-options.js';
import { textOfBytes, visibleBytes } from './shell-bytes.js';
import { formatSpan } from './table.js';

interface Request extends ExplainOptions {
  /** Options of runner-exec, in the order typed. */
  readonly request: readonly string[];
}

/** @throws {HoldfastError} `USAGE` for what is no variable, nor an option of runner-exec; `NO_SESSION`, and as `control`. */
export async function explainCommand(session: string, wanted: string | undefined, options: Request): Promise<string> {
  const found = await sessionLayers(session, explainedRequest(options));
  const whole = explain(found.layers);
  const shown = wanted === undefined ? whole : only(whole, bytesOf(wanted));
  if (wanted !== undefined && shown.variables.length + shown.absent.length === 0) throw unknown(wanted, session, whole);
  if (options.diff) {
    const all = differenceOf(whole.variables, found.layers.caller);
    // What is there beside it is not known, and so is not missing.
    const known = found.isElsewhere ? { ...all, removed: [] } : all;
    const difference = ofShown(known, wanted === undefined ? undefined : bytesOf(wanted));
    return options.json ? printed(differenceJson(difference)) : formatDifference(difference);
  }
  if (options.json) return printed(explanationJson(session, found, shown));
  if (wanted === undefined) return formatExplanation(shown, costOf(whole), notesOf(found));
  return [...shown.variables.map(formatVariable), ...shown.absent.map(formatAbsence)].join('');
}

/** By the parser of the client itself, so that what it refuses is refused here, in the same words. */
function explainedRequest({ request, exact }: Request): ExplainedRequest {
  const words = [...request.map(bytesOf), ...(exact === true ? ['--exact'] : []), '--', 'true'];
  const parsed = parseOptions(words);
  if (parsed.kind !== 'run') throw new Error('options of a request ask for help');
  return { env: parsed.options.env, exact: parsed.options.exact };
}

function only({ variables, absent }: Explanation, name: string): Explanation {
  const isMeant = (each: Variable | Absence): boolean => isNamed(each, name);
  return { variables: variables.filter(isMeant), absent: absent.filter(isMeant) };
}

/** A function by its own name, and as it is shown: `build()`. */
function isNamed(each: { readonly name: string }, name: string): boolean {
  const carried = functionOf(each.name);
  return each.name === name || (carried !== undefined && (carried === name || `${carried}()` === name));
}

function ofShown({ added, changed, removed }: Difference, name: string | undefined): Difference {
  if (name === undefined) return { added, changed, removed };
  const isMeant = (each: { readonly name: string }): boolean => isNamed(each, name);
  return { added: added.filter(isMeant), changed: changed.filter(isMeant), removed: removed.filter(isMeant) };
}

function costOf({ variables }: Explanation): { count: number; bytes: number } {
  return functionCost(variables.map(({ name, value }) => [name, value] as const));
}

function notesOf({ definition, snapshotTakenAt, isElsewhere }: SessionLayers): string[] {
  const notes: string[] = [];
  if (snapshotTakenAt !== undefined) notes.push(`a snapshot, taken ${formatSpan(Math.max(0, Date.now() - snapshotTakenAt))} ago`);
  if (definition.mode === 'host') notes.push('no environment is entered: the host itself, as a launcher would see it');
  if (isElsewhere) notes.push('the prefix makes the environment elsewhere, where it cannot be looked at: this is what is set on top of it');
  return notes;
}

function explanationJson(session: string, found: SessionLayers, { variables, absent }: Explanation): object {
  return {
    session,
    mode: found.definition.mode,
    identity: found.identity,
    whole: !found.isElsewhere,
    ...(found.snapshotTakenAt === undefined ? {} : { snapshotTakenAt: found.snapshotTakenAt }),
    functions: costOf({ variables, absent }),
    variables: variables.map(variableJson),
    absent: absent.map(absenceJson),
  };
}

/** Nobody has it: neither the session, nor what it leaves out, nor the caller. */
function unknown(wanted: string, session: string, { variables, absent }: Explanation): HoldfastError {
  const names = [...variables, ...absent].map(({ name }) => textOfBytes(functionOf(name) ?? name).text);
  const near = findNearest(wanted, names);
  const shown = visibleBytes(bytesOf(wanted));
  return new HoldfastError('USAGE', `no variable or function '${shown}' is set in session '${session}'`, {
    hint:
      near === undefined
        ? "the session's env sets one for every command, runner-exec --env for one"
        : `did you mean '${visibleBytes(bytesOf(near))}'?`,
  });
}

function printed(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
