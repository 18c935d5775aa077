// `npm run schema`: writes share/holdfast.schema.json anew, after a key was added or is described otherwise. A test compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { root } from './inputs.mjs';

const { describedKeys, jsonSchema } = await tsImport('../src/config/json-schema.ts', import.meta.url);
const texts = describedKeys(readFileSync(join(root, 'docs/config.md'), 'utf8'));
writeFileSync(join(root, 'share/holdfast.schema.json'), `${JSON.stringify(jsonSchema(texts), undefined, 2)}\n`);
