import { describe, expect, it } from 'vitest';

import {
  asksForCaller,
  initialVariables,
  nodeVariables,
  passAllChanges,
  passChange,
  prependChange,
  sessionPassChanges,
  setChange,
  terminalChanges,
  unsetChange,
} from '../../../src/client/environment.js';

const environ = (...words: string[]) => initialVariables(Buffer.from(words.map((word) => `${word}\0`).join(''), 'latin1'));
const shown = (changes: readonly Buffer[]) => changes.map((change) => change.toString('latin1'));

describe('the initial environment', () => {
  it('is bytes: values with =, line breaks and what is not UTF-8', () => {
    const variables = environ('A=b=c', 'B=one\nTWO=x\n', 'C=\xff\xfe', 'D=');
    expect(variables.find('A')?.toString()).toBe('b=c');
    expect(variables.find('B')?.toString()).toBe('one\nTWO=x\n');
    expect(variables.find('C')).toEqual(Buffer.of(0xff, 0xfe));
    expect(variables.find('D')?.toString()).toBe('');
    expect(variables.find('TWO')).toBeUndefined();
  });

  it('has the first of two variables of one name, and no string without a name', () => {
    const variables = environ('A=1', 'A=2', 'NONE', '=x=y');
    expect([...variables.entries()].map(([name, value]) => `${name} ${value}`)).toEqual(['A 1', '=x y']);
  });

  it('is that of this process', () => {
    expect(initialVariables().find('PATH')?.toString()).toBe(process.env['PATH']);
  });
});

describe('a change', () => {
  const caller = environ('HOME=/h', 'EMPTY=', 'X=\xfe', 'PWD=/p', 'OLDPWD=/o', 'SHLVL=2', '_=/bin/x', 'TERM=xterm');

  it('sets, unsets and prepends', () => {
    expect(shown([setChange('K', 'a=b'), unsetChange('K'), prependChange('/d')])).toEqual(['=K=a=b', '-K', ':/d']);
  });

  it('by name takes the value as it is, and the absence too', () => {
    expect(shown([passChange('EMPTY', caller), passChange('X', caller), passChange('NONE', caller)])).toEqual([
      '=EMPTY=',
      '=X=\xfe',
      '-NONE',
    ]);
  });

  it('of everything leaves out what describes the shell', () => {
    expect(shown(passAllChanges(caller, false))).toEqual(['?HOME=/h', '?EMPTY=', '?X=\xfe', '?TERM=xterm']);
    expect(shown(passAllChanges(caller, true))[0]).toBe('=HOME=/h');
  });

  it('for a terminal names what the caller has', () => {
    expect(shown(terminalChanges(caller))).toEqual(['=TERM=xterm']);
  });

  it("by the session's list leaves alone what the caller lacks", () => {
    expect(shown(sessionPassChanges(Buffer.from('HOME\nNONE\n\nEMPTY'), caller))).toEqual(['=HOME=/h', '=EMPTY=']);
    expect(shown(sessionPassChanges(Buffer.from('*\n'), caller))).toEqual(shown(passAllChanges(caller, false)));
    expect(shown(sessionPassChanges(Buffer.from('~\nX\n'), caller))).toEqual(['=X=\xfe']);
    expect(['~\nX\n', '~\n', 'X\n~\n', '~', '~X\n', ''].map((names) => asksForCaller(Buffer.from(names)))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it('from a Node program sees its own changes', () => {
    const variables = nodeVariables({ A: '1', B: undefined });
    expect(shown([passChange('A', variables), passChange(Buffer.from('B'), variables)])).toEqual(['=A=1', '-B']);
    expect(shown(passAllChanges(variables, false))).toEqual(['?A=1']);
  });
});
