// devenv, in its two forms: a shell that runs a command, and bash code to evaluate.

import { join, resolve } from 'node:path';

import { pathsInNix } from './nix-paths.js';
import type { Entry, Provider } from './provider.js';
import { inputsOf, kindOf, readText } from './relative.js';

const INPUTS = ['devenv.nix', 'devenv.yaml', 'devenv.lock', 'devenv.local.nix', 'devenv.local.yaml'];

export const devenv: Provider = {
  name: 'devenv',
  inputs: INPUTS,
  enter: (directory) => enterBy(directory, { style: 'enter', argv: ['devenv', 'shell', '--'] }),
};

export const devenvPrintDevEnv: Provider = {
  name: 'devenv-print-dev-env',
  inputs: INPUTS,
  enter: (directory) => enterBy(directory, { style: 'source-command', argv: ['devenv', 'print-dev-env'] }),
};

function enterBy(directory: string, launch: Entry['launch']): Entry {
  return { launch, inputs: inputsOf(directory, INPUTS, filesOf(directory, new Set())) };
}

/** What a project and the local ones that it imports are made of. */
function filesOf(directory: string, seen: Set<string>): string[] {
  if (seen.has(directory)) return [];
  seen.add(directory);
  const yaml = readText(join(directory, 'devenv.yaml'));
  const imported = importsOf(yaml).map((path) => resolve(directory, path));
  const own = [join(directory, 'devenv.yaml'), ...pathsInNix([join(directory, 'devenv.nix'), join(directory, 'devenv.local.nix')])];
  return [
    ...own,
    ...imported.flatMap((path) => (kindOf(path) === 'directory' ? filesOf(path, seen) : [...pathsInNix([path])])),
    ...localInputs(yaml).flatMap((path) => ['flake.nix', 'flake.lock'].map((name) => resolve(directory, path, name))),
  ].filter((path) => kindOf(path) === 'file');
}

/** The relative ones of `imports:`, written as a list of lines or in brackets. An import may also name an input: that is locked. */
export function importsOf(yaml: string): string[] {
  const found: string[] = [];
  const [, inline = '', lines = ''] = /^imports:[ \t]*(\[[^\]]*\])?[^\n]*\n?((?:[ \t]*(?:-[^\n]*|#[^\n]*)?\n?)*)/m.exec(yaml) ?? [];
  for (const [, item = ''] of [...inline.matchAll(/([^[\],]+)/g), ...lines.matchAll(/^[ \t]*-[ \t]+([^\n]*)$/gm)]) {
    const path = item
      .replace(/[ \t]#.*$/, '')
      .trim()
      .replace(/^(['"])(.*)\1$/, '$2');
    if (/^\.{1,2}(\/|$)/.test(path)) found.push(path);
  }
  return found;
}

/** `url: path:./tools`. */
function localInputs(yaml: string): string[] {
  return [...yaml.matchAll(/^[ \t]+url:[ \t]*['"]?path:(\.{1,2}(?:\/[^'"\s?]*)?)/gm)].map(([, path = '']) => path);
}
