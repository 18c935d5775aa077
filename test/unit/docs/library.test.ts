// Pins docs/library.md: every example in it is a module that the type checker admits, against the library as it is.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const page = readFileSync(join(root, 'docs/library.md'), 'utf8');
const examples = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);

it('every example of docs/library.md is type-checked', { timeout: 120_000 }, () => {
  expect(examples.length).toBeGreaterThan(5);
  // Beside the package's own files, so that they find what it depends on; nothing is written.
  const files = new Map(examples.map((code, index) => [join(root, `example-${index}.ts`), code]));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    paths: { holdfast: [join(root, 'src/index.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  const program = ts.createProgram([...files.keys()], options, host);
  const faults = ts.getPreEmitDiagnostics(program).filter(({ file }) => file === undefined || files.has(file.fileName));
  expect(
    faults.map((fault) => `${fault.file?.fileName.slice(root.length + 1)}: ${ts.flattenDiagnosticMessageText(fault.messageText, ' ')}`),
  ).toEqual([]);
});
