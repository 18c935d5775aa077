// Pins the shape of src/: which part may import which (CONTRIBUTING.md), and which powers only one file has.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const source = join(dirname(fileURLToPath(import.meta.url)), '../../src');

/** Files right in src/ that any part but `protocol` may use. */
const FOUNDATION = ['channel', 'errors', 'install', 'native', 'process-tree'];

/** Part of src/ → the parts that it may import, beside itself and the foundation. `index` is the library's face. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  client: ['protocol'],
  wrap: ['protocol'],
  session: ['wrap', 'client', 'protocol'],
  agent: ['session', 'wrap', 'protocol'],
  config: ['session', 'wrap', 'client', 'protocol'],
  cli: ['agent', 'config', 'session', 'wrap', 'client', 'protocol'],
  index: ['config', 'session', 'wrap', 'client', 'protocol'],
};

interface Import {
  /** Path under src/, without suffix. */
  from: string;
  /** The same for a file of ours, else the module's name. */
  to: string;
  isTypeOnly: boolean;
}

const paths = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
const files = paths.map((path) => {
  const text = readFileSync(join(source, path), 'utf8');
  return { path: withoutSuffix(path), tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) };
});
const imports = files.flatMap(({ path, tree }) => importsOf(path, tree));
const ours = imports.filter(({ to }) => files.some(({ path }) => path === to));

function importsOf(path: string, tree: ts.SourceFile): Import[] {
  return nodesOf(tree).flatMap((node) => {
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const name = isDynamic
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined;
    if (name === undefined || !ts.isStringLiteral(name)) return [];
    const to = name.text.startsWith('.') ? withoutSuffix(normalize(join(dirname(path), name.text))) : name.text;
    const isTypeOnly = ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    return [{ from: path, to, isTypeOnly }];
  });
}

function nodesOf(node: ts.Node): ts.Node[] {
  const found = [node];
  node.forEachChild((child) => {
    found.push(...nodesOf(child));
  });
  return found;
}

function withoutSuffix(path: string): string {
  return path.replace(/\.(ts|js)$/, '');
}

function partOf(path: string): string {
  return path.split('/')[0] ?? path;
}

function filesWith(isMeant: (node: ts.Node) => boolean): string[] {
  return files.filter(({ tree }) => nodesOf(tree).some(isMeant)).map(({ path }) => path);
}

describe('imports', () => {
  it('reach a file that is there', () => {
    const known = new Set(files.map(({ path }) => path));
    const lost = imports.filter(({ to }) => (partOf(to) in MAY_IMPORT || FOUNDATION.includes(partOf(to))) && !known.has(to));
    expect(lost).toEqual([]);
  });

  it('point one way: no part uses one above it', () => {
    const back = ours.filter(({ from, to }) => {
      const [user, used] = [partOf(from), partOf(to)];
      if (user === used) return false;
      if (FOUNDATION.includes(user)) return !FOUNDATION.includes(used) && used !== 'protocol';
      if (user === 'protocol') return used !== 'errors';
      return !FOUNDATION.includes(used) && !(MAY_IMPORT[user] ?? []).includes(used);
    });
    expect(back).toEqual([]);
  });

  it('never go round', () => {
    const edges = new Map<string, string[]>();
    // What is only a type is gone when the program runs.
    for (const { from, to, isTypeOnly } of ours) if (!isTypeOnly) edges.set(from, [...(edges.get(from) ?? []), to]);
    const rounds: string[] = [];
    const done = new Set<string>();
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) rounds.push([...path.slice(path.indexOf(file)), file].join(' → '));
      else if (!done.has(file)) {
        for (const next of edges.get(file) ?? []) walk(next, [...path, file]);
        done.add(file);
      }
    };
    for (const file of edges.keys()) walk(file, []);
    expect(rounds).toEqual([]);
  });

  it('keep the protocol pure: bytes in, values out', () => {
    const impure = imports.filter(({ from, to }) => partOf(from) === 'protocol' && to.startsWith('node:') && to !== 'node:buffer');
    expect(impure).toEqual([]);
  });

  it('are laid down for every part of src/', () => {
    const parts = new Set(files.map(({ path }) => partOf(path)));
    expect([...parts].filter((part) => !(part in MAY_IMPORT) && !FOUNDATION.includes(part))).toEqual([]);
  });
});

describe('powers', () => {
  it('loading the addon is for native.ts alone', () => {
    expect(filesWith((node) => ts.isIdentifier(node) && ['createRequire', 'dlopen'].includes(node.text))).toEqual(['native']);
  });

  it('calling the addon is for native/ alone', () => {
    const callers = filesWith((node) => ts.isImportSpecifier(node) && node.name.text === 'addon');
    expect(callers.filter((path) => partOf(path) !== 'native')).toEqual([]);
    expect(callers).not.toEqual([]);
  });

  it('ending the process is for cli/main.ts alone', () => {
    const ends = filesWith((node) => ts.isPropertyAccessExpression(node) && /^process\.(exit|reallyExit|abort)$/.test(node.getText()));
    expect(ends.filter((path) => path !== 'cli/main')).toEqual([]);
  });

  it('casting with `as` is for native.ts and protocol/ alone', () => {
    const casts = filesWith((node) => ts.isTypeAssertionExpression(node) || (ts.isAsExpression(node) && node.type.getText() !== 'const'));
    expect(casts.filter((path) => path !== 'native' && partOf(path) !== 'protocol')).toEqual([]);
  });

  it('turning a type check off is for nobody', () => {
    expect(filesWith((node) => node.kind === ts.SyntaxKind.AnyKeyword)).toEqual([]);
    expect(files.filter(({ tree }) => /@ts-(ignore|expect-error|nocheck)/.test(tree.text)).map(({ path }) => path)).toEqual([]);
  });
});
