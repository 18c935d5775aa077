import { describe, expect, it } from 'vitest';
import { insideEnvironment } from '../../../src/wrap/environment.js';

const SESSION = {
  declared: [['D', 'declared']] as const,
  weak: [
    ['W', 'weak'],
    ['D', 'weak'],
  ] as const,
  pathPrepend: ['/p'],
};
const NONE = { declared: [], weak: [], pathPrepend: [] };

describe('what is to be changed inside', () => {
  it('is what the session declares, where the request says nothing', () => {
    expect(insideEnvironment(SESSION, [], false)).toEqual({
      exact: false,
      set: new Map([['D', 'declared']]),
      unset: [],
      weak: new Map([['W', 'weak']]),
      pathPrepend: ['/p'],
    });
  });

  it('is what the request says, in its order', () => {
    const { set, unset } = insideEnvironment(SESSION, ['=D=1', '=A=', '-D', '=A=x=y\n', '=B=2'], false);
    expect([set, unset]).toEqual([
      new Map([
        ['A', 'x=y\n'],
        ['B', '2'],
      ]),
      ['D'],
    ]);
  });

  it('leaves a weak value to whoever says more', () => {
    expect(insideEnvironment(SESSION, ['?D=no', '?X=1', '=W=strong', '-V', '?V=no'], false)).toMatchObject({
      set: new Map([
        ['D', 'declared'],
        ['W', 'strong'],
      ]),
      unset: ['V'],
      weak: new Map([['X', '1']]),
    });
  });

  it('is that alone when it is exact', () => {
    expect(insideEnvironment(SESSION, ['=A=1', '-B'], true)).toEqual({
      exact: true,
      set: new Map([['A', '1']]),
      unset: [],
      weak: new Map(),
      pathPrepend: [],
    });
  });
});

describe('the PATH inside', () => {
  it('has its directories where they are inside', () => {
    expect(insideEnvironment(SESSION, [':/r'], false, (path) => `/in${path}`).pathPrepend).toEqual(['/in/r', '/in/p']);
  });

  it('is put together where all of it is known', () => {
    expect(insideEnvironment({ ...SESSION, declared: [['PATH', '/d']] }, [':/r', ':/s'], false)).toMatchObject({
      set: new Map([['PATH', '/r:/s:/p:/d']]),
      pathPrepend: [],
    });
    expect(insideEnvironment(NONE, [':/r'], true)).toMatchObject({ set: new Map([['PATH', '/r']]) });
    expect(insideEnvironment(NONE, ['-PATH', ':/r'], false)).toMatchObject({ set: new Map([['PATH', '/r']]), pathPrepend: [] });
  });

  it('is led by what is prepended where the rest is known only inside', () => {
    expect(insideEnvironment(SESSION, [':/r'], false)).toMatchObject({ set: new Map([['D', 'declared']]), pathPrepend: ['/r', '/p'] });
  });
});
