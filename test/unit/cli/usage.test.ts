import { describe, expect, it, vi } from 'vitest';

import { buildProgram, run } from '../../../src/cli/program.js';
import { HoldfastError } from '../../../src/errors.js';

async function misuse(...words: string[]): Promise<HoldfastError> {
  // Commander shows its help where a command is missing; that is not what is tested.
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await run(words);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  } finally {
    stderr.mockRestore();
  }
  throw new Error('nothing was thrown');
}

describe('a command line that says something impossible', () => {
  it.each([
    [['opne'], "unknown command 'opne'", "did you mean 'open'?"],
    [['xyzzy'], "unknown command 'xyzzy'", "'holdfast --help' shows how it is used"],
    [['open', '--mod', 'x'], "unknown option '--mod'", "did you mean '--mode'?"],
    [['open', 'a', 'b'], "too many arguments for 'open': expected 1 argument but got 2", "the launcher goes after '--'"],
    [['open', '--env'], "option '--env <K=V>' argument missing", "'holdfast open --help' shows how it is used"],
    [['status', 'a', 'b'], "too many arguments for 'status'", "'holdfast status --help'"],
    [['job', 'kill'], "missing required argument 'name-or-id'", "'holdfast job --help'"],
    [['job'], 'no command is given', "'holdfast job --help'"],
    [[], 'no command is given', "'holdfast --help'"],
    [['help', 'opne'], "unknown command 'opne'", "'holdfast --help' lists them"],
    [['close'], 'no session is named', '--all'],
    [['close', '--all', 'web'], "both '--all' and names are given", 'keep one'],
    [['completion', 'tcsh'], "command-argument value 'tcsh' is invalid", "'holdfast completion --help'"],
  ])('is told in one line, with what to do: %j', async (words, message, hint) => {
    const error = await misuse(...words);
    expect(error.code).toBe('USAGE');
    expect(error.message.slice(0, message.length)).toBe(message);
    expect(error.message).not.toContain('\n');
    expect(error.hint).toContain(hint);
  });
});

describe('help', () => {
  it('is there for every command, in lines that fit a terminal', () => {
    const program = buildProgram();
    for (const command of [program, ...program.commands]) {
      let text = '';
      command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
      expect(text).toContain('Usage: holdfast');
      for (const line of text.split('\n')) expect(line.length, `${command.name()}: ${line}`).toBeLessThanOrEqual(80);
    }
  });

  it('is no failure', async () => {
    const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await run(['--help']);
    await run(['open', '--help']);
    await run(['help']);
    await run(['help', 'open']);
    await run(['job', 'help', 'logs']);
    await run(['--version']);
    expect(stdout).toHaveBeenLastCalledWith(expect.stringMatching(/^\d+\.\d+\.\d+/));
    stdout.mockRestore();
  });
});
