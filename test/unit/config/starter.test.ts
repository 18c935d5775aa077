// Pins docs/config.md on `holdfast init`: what it writes is right, and stays right when its comments are taken at their word.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { settleSession } from '../../../src/config/extends.js';
import { parseConfig } from '../../../src/config/file.js';
import { starterFor } from '../../../src/config/starter.js';
import { HoldfastError } from '../../../src/errors.js';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-init-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function having(...files: string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
}

function session(text: string): unknown {
  return parseConfig(join(root, 'holdfast.toml'), text).session;
}

describe('the holdfast.toml to begin with', () => {
  it.each([
    [['flake.nix', 'flake.lock'], { provider: 'nix-develop' }],
    [['.envrc'], { provider: 'direnv' }],
    [['devenv.nix', 'flake.nix'], { provider: 'devenv' }],
    [[], { mode: 'host' }],
  ])('enters what is there: %j', (files, settings) => {
    having(...files);
    expect(session(starterFor(root).text)).toEqual(settings);
  });

  it('sources a script', () => {
    having('scripts/env.sh');
    expect(session(starterFor(root).text)).toEqual({ source: join(root, 'scripts/env.sh') });
  });

  it('names what else is there, as a comment', () => {
    having('flake.nix', '.envrc', 'env.sh');
    const { text, summary } = starterFor(root);
    expect(text).toContain('\n# provider = "direnv"  # .envrc is here, as well\n# source = "env.sh"  # env.sh is here, as well\n');
    expect(summary).toBe('provider = "nix-develop" (flake.nix is here)');
  });

  it('enters by the provider that is asked for', () => {
    having('flake.nix');
    const { text } = starterFor(root, 'nix-print-dev-env');
    expect(session(text)).toEqual({ provider: 'nix-print-dev-env' });
    expect(text).toContain('# provider = "nix-develop"  # flake.nix is here, as well');
    expect(text).toContain('# inputs = ["flake.nix", "flake.lock"]');
    expect(() => starterFor(root, 'nix-devlop')).toThrow(HoldfastError);
  });

  it('names the schema where the package is installed beside it', () => {
    expect(starterFor(root).text).not.toContain('#:schema');
    having('node_modules/holdfast/dist/holdfast.schema.json');
    expect(starterFor(root).text).toMatch(/^#:schema \.\/node_modules\/holdfast\/dist\/holdfast\.schema\.json\n/);
  });

  it('is right when each comment that could be said is said', () => {
    having('flake.nix');
    const { text } = starterFor(root);
    const said = text.replace(/^# (?=[a-z_]+ = |\[)/gm, '');
    const file = parseConfig(join(root, 'holdfast.toml'), said);
    expect(file.session).toMatchObject({
      inputs: [join(root, 'flake.nix'), join(root, 'flake.lock')],
      on_stale: 'reopen',
      idle_timeout: 3_600_000,
    });
    expect(settleSession(file, 'ci')).toMatchObject({ provider: 'nix-develop', env: { CI: '1' }, max_concurrent: 0 });
    for (const line of text.split('\n').filter((each) => /^# [a-z_]+ = /.test(each))) expect(line).toMatch(/ # \S|CI = "1"/);
  });
});
