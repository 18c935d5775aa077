// The recipes of docs/recipes.md as they stand there: a heading, and beneath it code blocks that say which file they are.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'docs/recipes.md');

/** Heading → file → text. */
export function readRecipes(): Map<string, Map<string, string>> {
  const recipes = new Map<string, Map<string, string>>();
  const [, ...sections] = readFileSync(path, 'utf8').split(/^## /m);
  for (const section of sections) {
    const files = new Map<string, string>();
    for (const [, file = '', text = ''] of section.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm)) files.set(file, text);
    recipes.set(section.slice(0, section.indexOf('\n')), files);
  }
  return recipes;
}

/** Writes the files of one recipe into `directory`, executable where they are scripts, and hands them back. */
export function writeRecipe(title: string, directory: string): Map<string, string> {
  const files = readRecipes().get(title);
  if (files === undefined) throw new Error(`docs/recipes.md has no recipe '${title}'`);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), text);
    if (text.startsWith('#!')) chmodSync(join(directory, file), 0o755);
  }
  return files;
}
