// `holdfast explain NAME -- CMD`: what stands between the caller and a command of a session, and the words that are executed in the end.
// Values that come from a caller are not shown: they may be secrets.

import { workingDirectory } from '../client/directory.js';
import type { SessionDefinition } from '../session/definition.js';
import { readOpened } from '../session/opened.js';
import type { SessionRecord } from '../session/record.js';
import { wrapCommand } from '../wrap/command.js';
import { inheritsEnvironment, type WrapDefinition } from '../wrap/definition.js';
import { insideEnvironment } from '../wrap/environment.js';
import { mapPath } from '../wrap/path-map.js';
import { filledWrap, fromLatin1, toLatin1 } from '../wrap/text.js';
import { shellWord } from './table.js';

export interface Layers {
  /** From the outermost inwards. */
  readonly layers: readonly string[];
  /** What is executed; the values of callers are `…` in it. */
  readonly argv: readonly string[];
  /** Variables that the wrapper itself gets, so that they are in no command line. */
  readonly lent: readonly string[];
}

const HIDDEN = '…';

/** @throws {HoldfastError} `NO_SESSION`. */
export function layersCommand(name: string, command: readonly string[], { json }: { readonly json?: true }): string {
  const layers = layersOf(readOpened(name).record, command, workingDirectory());
  return json === true ? `${JSON.stringify(layers, undefined, 2)}\n` : formatLayers(layers);
}

/** Pure. @param cwd of the caller, absolute. */
export function layersOf(record: SessionRecord, command: readonly string[], cwd: string): Layers {
  const { definition } = record;
  const layers = [entryText(definition)];
  if (definition.wrap === undefined) return { layers: [...layers, 'the command, looked up on the PATH there'], argv: command, lent: [] };
  const wrap = filledWrap(definition.wrap, record.held);
  layers.push(wrapperText(wrap), 'the command, looked up inside');
  const { argv, environment } = wrapCommand(wrap, {
    argv: command.map(toLatin1),
    environment: insideEnvironment(
      declaredOf(record),
      definition.runtimePassEnv.filter((each) => each !== '*').map((each) => toLatin1(`=${each}=${HIDDEN}`)),
      false,
      (path) => mapPath(wrap.pathMap, path),
    ),
    cwd: toLatin1(cwd),
    isTerminal: false,
    marker: wrap.farSide === 'marker' ? toLatin1(HIDDEN) : undefined,
  });
  return { layers, argv: argv.map(fromLatin1), lent: [...environment.keys()].map(fromLatin1) };
}

export function formatLayers({ layers, argv, lent }: Layers): string {
  const numbered = layers.map((layer, index) => `${index + 1}  ${layer}\n`).join('');
  const given = lent.length === 0 ? '' : `with ${lent.join(', ')} in the environment of the wrapper\n`;
  return `${numbered}\nruns\n  ${argv.map(shown).join(' ')}\n${given}`;
}

function shown(word: string): string {
  return word.includes(HIDDEN) ? word : shellWord(word);
}

/** What the caller gave at the opening is hidden, what was declared is not. */
function declaredOf({ definition, declared, weak }: SessionRecord): Parameters<typeof insideEnvironment>[0] {
  const isPassed = (name: string): boolean => definition.passEnv.includes(fromLatin1(name));
  return {
    declared: declared.map(([name, value]) => [name, isPassed(name) ? toLatin1(HIDDEN) : value] as const),
    weak: weak.map(([name]) => [name, toLatin1(HIDDEN)] as const),
    pathPrepend: definition.pathPrepend.map(toLatin1),
  };
}

function entryText({ launch, mode, wrap }: SessionDefinition): string {
  const where = mode === 'snapshot' ? ', whose variables were kept' : '';
  switch (launch.style) {
    case 'source':
      return `bash, with '${launch.script}' sourced${where}`;
    case 'source-command':
      return `bash, with what '${launch.argv.join(' ')}' prints${where}`;
    case 'enter':
    case 'enter-string':
      if (launch.argv.length > 0) return `what '${launch.argv.join(' ')}' enters${where}`;
      if (wrap === undefined || inheritsEnvironment(wrap)) return 'this host, with a scrubbed environment';
      return 'this host, with the environment of each caller';
  }
}

function wrapperText(wrap: WrapDefinition): string {
  const words = [...wrap.prefix, ...wrap.operand].map(fromLatin1).map(shellWord).join(' ');
  const details = [
    inheritsEnvironment(wrap) ? 'it hands its environment on' : `variables by ${wrap.envStyle}`,
    wrap.cwdOption === undefined ? 'the directory is entered inside' : `the directory by ${fromLatin1(wrap.cwdOption)}`,
    ...(wrap.ttyOption.length === 0 ? [] : [`${wrap.ttyOption.map(fromLatin1).join(' ')} on a terminal`]),
    ...(wrap.farSide === 'marker' ? ['ended by a marker'] : wrap.farSide === 'none' ? ['not ended'] : []),
  ];
  return `${words}: ${details.join(', ')}`;
}
