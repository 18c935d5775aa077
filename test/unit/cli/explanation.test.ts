import { describe, expect, it } from 'vitest';

import { explainVariables, formatVariable, formatVariables } from '../../../src/cli/explanation.js';
import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';

const DEFINITION: SessionDefinition = { ...DEFINITION_DEFAULTS, name: 'web', directory: '/p', launch: { style: 'enter', argv: ['x'] } };

describe('where a variable comes from', () => {
  it('is the strongest that gives it a value', () => {
    const definition: SessionDefinition = {
      ...DEFINITION,
      env: { A: '1', B: '1', C: '1' },
      runtimeEnv: { B: '2', C: '2' },
      passEnv: ['C'],
      runtimePassEnv: ['D'],
      pathPrepend: ['/x'],
    };
    const base = ['A', 'B', 'C', 'D', 'E', 'PATH'].map((name) => [name, 'v'] as const);
    expect(explainVariables(base, definition).map(({ name, source }) => [name, source])).toEqual([
      ['A', 'declared (env)'],
      ['B', 'declared (runtime_env)'],
      ['C', 'the caller, at the opening (pass_env)'],
      ['D', 'the caller, at each command (runtime_pass_env)'],
      ['E', 'the environment'],
      ['PATH', 'the environment, behind path_prepend'],
    ]);
  });

  it('is not certain where all of the caller is passed', () => {
    const [variable] = explainVariables([['A', '1']], { ...DEFINITION, passEnv: ['*'] });
    expect(variable?.source).toBe("the environment, or the caller at the opening (pass_env '*')");
  });
});

describe('what is shown', () => {
  const variables = explainVariables(
    [
      ['BASH_FUNC_my-fn%%', '() {  echo hi\n}'],
      ['MULTI', 'one\ntwo'],
      ['NAME', 'caf\xc3\xa9'],
      ['PATH', '/a:/b'],
      ['RAW', '\xff\xfe'],
    ],
    DEFINITION,
  );

  it('is one line for each variable, a function by its own name', () => {
    expect(formatVariables(variables)).toBe(`FROM             VARIABLE
the environment  my-fn() (a shell function)
the environment  MULTI=$'one\\ntwo'
the environment  NAME='café'
the environment  PATH=/a:/b
the environment  RAW='ÿþ'
`);
  });

  it('is each directory of a PATH on its own', () => {
    const path = variables.find(({ name }) => name === 'PATH');
    expect(path === undefined ? '' : formatVariable(path)).toBe('PATH:\n  /a\n  /b\nfrom the environment\n');
  });
});
