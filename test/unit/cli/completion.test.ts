import { execFileSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { completionScript, SHELLS } from '../../../src/cli/completion-script.js';
import { buildProgram } from '../../../src/cli/program.js';

/** What bash offers for a line, the last word being incomplete. */
function offers(...words: string[]): string[] {
  const script = `holdfast() { echo web; echo 'odd name'; }
${completionScript('bash', buildProgram())}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script, 'x', ...words], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

describe('completion', () => {
  it('offers the commands', () => {
    expect(offers('holdfast', 'st')).toEqual(['status']);
    expect(offers('holdfast', '')).toEqual(expect.arrayContaining(['open', 'close', 'list', 'doctor', '--help']));
  });

  it('offers the flags of a command', () => {
    expect(offers('holdfast', 'open', '--idle')).toEqual(['--idle-timeout']);
    expect(offers('holdfast', 'close', '--')).toEqual(['--help', '--all']);
  });

  it('offers the names of sessions, whatever they are', () => {
    expect(offers('holdfast', 'close', '')).toEqual(['web', 'odd name']);
    expect(offers('holdfast', 'job', 'kill', 'w')).toEqual(['web']);
  });

  it('offers what can be done to a job', () => {
    expect(offers('holdfast', 'job', 'k')).toEqual(['kill']);
  });

  it.each(SHELLS)('names every command for %s', (shell) => {
    const program = buildProgram();
    const script = completionScript(shell, program);
    for (const command of program.commands) expect(script).toContain(command.name());
  });
});
