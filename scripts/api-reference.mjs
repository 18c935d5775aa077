// Writes docs/api.md from the doc comments of what src/index.ts exports: `npm run api`; with --check it writes nothing and fails when
// the file is old. Types are read as declarations, file by file, so that it takes a second and needs no build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { root } from './inputs.mjs';

const output = join(root, 'docs/api.md');
const entry = join(root, 'src/index.ts');
const INTRODUCTION = `# API

What a program may import from \`holdfast\`. Written by \`npm run api\` from the comments in the sources: correct those, not this file.
[library.md](library.md) shows it at work; [errors.md](errors.md) lists every code of a \`HoldfastError\`.
`;

/** path → { names: name → declarations, imports: local name → { path, name }, reExports: likewise }; read once. */
const modules = new Map();

function moduleAt(path) {
  const known = modules.get(path);
  if (known !== undefined) return known;
  const source = readFileSync(path, 'utf8');
  const { outputText } = ts.transpileDeclaration(source, {
    fileName: path,
    compilerOptions: { isolatedDeclarations: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext },
  });
  const tree = ts.createSourceFile(path.replace(/\.ts$/, '.d.ts'), outputText, ts.ScriptTarget.ES2022, true);
  const module = { path, tree, names: new Map(), imports: new Map(), reExports: new Map() };
  modules.set(path, module);
  const at = (specifier) => join(dirname(path), specifier.text).replace(/\.js$/, '.ts');
  for (const statement of tree.statements) {
    if (ts.isImportDeclaration(statement) && statement.moduleSpecifier.text.startsWith('.')) {
      const bindings = statement.importClause?.namedBindings;
      if (bindings !== undefined && ts.isNamedImports(bindings))
        for (const { name, propertyName } of bindings.elements)
          module.imports.set(name.text, { path: at(statement.moduleSpecifier), name: (propertyName ?? name).text });
    } else if (ts.isExportDeclaration(statement) && statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause)) {
      for (const { name, propertyName } of statement.exportClause.elements) {
        const local = (propertyName ?? name).text;
        const target =
          statement.moduleSpecifier === undefined ? module.imports.get(local) : { path: at(statement.moduleSpecifier), name: local };
        if (target !== undefined) module.reExports.set(name.text, target);
      }
    } else {
      const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
      for (const { name } of declared) {
        if (name === undefined || !ts.isIdentifier(name)) continue;
        module.names.set(name.text, [...(module.names.get(name.text) ?? []), statement]);
      }
    }
  }
  return module;
}

/** Where a name is declared, through any number of re-exports; `undefined`: in no file of ours. */
function find(path, name) {
  if (!existsSync(path)) return undefined;
  const module = moduleAt(path);
  if (module.names.has(name)) return { module, name };
  const further = module.reExports.get(name) ?? module.imports.get(name);
  return further === undefined ? undefined : find(further.path, further.name);
}

/** Every name of ours that the statements speak of. */
function mentioned({ module }, statements) {
  const found = [];
  const visit = (node) => {
    if (ts.isIdentifier(node) && !isMember(node)) {
      const at = find(module.path, node.text);
      if (at !== undefined) found.push(at);
    }
    ts.forEachChild(node, visit);
  };
  statements.forEach(visit);
  return found;
}

function isMember(node) {
  const { parent } = node;
  return 'name' in parent && parent.name === node && !ts.isVariableDeclaration(parent);
}

function kindOf([statement]) {
  if (ts.isFunctionDeclaration(statement)) return 'Functions';
  if (ts.isClassDeclaration(statement)) return 'Classes';
  return ts.isVariableStatement(statement) ? 'Constants' : 'Types';
}

/** The declaration as it is written, without its own comment and without what is private. */
function code(statement, name, shown) {
  const text = statement
    .getText()
    .replace(/^export /, '')
    .replace(/^declare /, '')
    .replace(name, shown);
  const lines = text.split('\n').filter((line) => !/^\s*(#private;|private )/.test(line));
  // The compiler indents by four.
  return lines
    .map((line) => line.trimEnd().replace(/^ +/, ({ length }) => ' '.repeat(Math.floor(length / 4) * 2 + (length % 4))))
    .join('\n');
}

function textOf(comment) {
  return (typeof comment === 'string' ? comment : (ts.getTextOfJSDocComment(comment) ?? '')).trim();
}

const TAGS = { param: 'parameter', returns: 'returns', throws: 'throws' };

/** The doc comment: prose, then what each tag says. */
function prose(statement) {
  const docs = ts.getJSDocCommentsAndTags(statement).filter(ts.isJSDoc);
  const tags = docs
    .flatMap((doc) => [...(doc.tags ?? [])])
    .map((tag) => {
      const name = tag.tagName.text;
      const raw = textOf(tag.comment ?? '');
      // The compiler takes the braces of `@throws {X} …` for a type.
      const type =
        'typeExpression' in tag && tag.typeExpression !== undefined
          ? `${tag.typeExpression.getText().replace(/^\{(.*)\}$/s, '`$1`')} `
          : '';
      const what = name === 'param' ? `\`${tag.name.getText()}\`: ` : '';
      return `- ${TAGS[name] ?? name} ${what}${type}${raw.replaceAll('\n', ' ')}`.trimEnd();
    });
  const text = docs.map((doc) => textOf(doc.comment ?? '')).filter((part) => part !== '');
  return [...text, ...(tags.length > 0 ? [tags.join('\n')] : [])].join('\n\n');
}

function section({ module, name, shown }) {
  const statements = module.names.get(name);
  const words = statements.map(prose).filter((part) => part !== '');
  const where = relative(root, module.path);
  return [
    `### ${shown}`,
    ...words,
    `\`\`\`ts\n${statements.map((statement) => code(statement, name, shown)).join('\n')}\n\`\`\``,
    `<sub>${where}</sub>`,
  ].join('\n\n');
}

function apiReference() {
  const face = moduleAt(entry);
  const exported = [...face.reExports].map(([shown, target]) => {
    const at = find(target.path, target.name);
    if (at === undefined) throw new Error(`'${shown}' of src/index.ts is declared nowhere`);
    return { ...at, shown };
  });
  const key = ({ module, name }) => `${module.path} ${name}`;
  const known = new Set(exported.map(key));
  const further = [];
  // What is not exported, and yet seen in what is: it has to be said what it is.
  for (const queue = [...exported]; queue.length > 0; ) {
    const next = queue.shift();
    for (const at of mentioned(next, next.module.names.get(next.name))) {
      if (known.has(key(at))) continue;
      known.add(key(at));
      const found = { ...at, shown: at.name };
      further.push(found);
      queue.push(found);
    }
  }
  const byName = (a, b) => (a.shown < b.shown ? -1 : 1);
  const parts = ['Functions', 'Classes', 'Types', 'Constants'].map((kind) => {
    const of = exported.filter(({ module, name }) => kindOf(module.names.get(name)) === kind).sort(byName);
    return of.length === 0 ? '' : `## ${kind}\n\n${of.map(section).join('\n\n')}\n`;
  });
  const rest =
    further.length === 0
      ? ''
      : `## Types that those above name\n\nThey cannot be imported.\n\n${further.sort(byName).map(section).join('\n\n')}\n`;
  return [INTRODUCTION, ...parts, rest].filter((part) => part !== '').join('\n');
}

const text = apiReference();
// Its name alone tells nobody what a function does.
const mute = [...text.matchAll(/^### (\w+)\n\n(?:- .*\n)*\n?```ts\n(?:function|class) /gm)].map(([, name]) => name);
if (mute.length > 0) {
  console.error(`api-reference: exported without a word of what they do: ${mute.join(', ')}\nhint: say it above them, in /** … */`);
  process.exit(1);
}
if (!process.argv.includes('--check')) writeFileSync(output, text);
else if (!existsSync(output) || readFileSync(output, 'utf8') !== text) {
  console.error("api-reference: docs/api.md is not what the sources say\nhint: 'npm run api' writes it anew");
  process.exit(1);
}
