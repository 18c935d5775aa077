import { describe, expect, it } from 'vitest';

import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';
import { formatIdentity, identityOf } from '../../../src/session/identity.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';

const DIGEST = `sha256:${'0a'.repeat(32)}`;
const STORE = `/nix/store/${'0'.repeat(32)}-devenv-1.6`;

const WRAP: WrapDefinition = {
  prefix: ['docker', 'run', '--rm'],
  operand: [],
  envStyle: 'option',
  ttyOption: [],
  pathMap: {},
  mapArgv: false,
  failureCodes: [],
  farSide: 'local',
};

function define(more: Partial<SessionDefinition>): SessionDefinition {
  return { ...DEFINITION_DEFAULTS, name: 'web', directory: '/p', launch: { style: 'enter', argv: ['enter'] }, ...more };
}

describe('an environment', () => {
  it('is pinned by a lock file that is there', () => {
    const there = [
      { path: '/p/flake.nix', sha256: 'a' },
      { path: '/p/nix/flake.lock', sha256: 'b' },
    ];
    expect(identityOf(define({}), there)).toEqual({ kind: 'pinned', by: 'lock file nix/flake.lock' });
    expect(identityOf(define({}), [{ path: '/q/package-lock.json', sha256: 'a' }])).toEqual({
      kind: 'pinned',
      by: 'lock file /q/package-lock.json',
    });
    expect(identityOf(define({}), [{ path: '/p/flake.lock', sha256: null }]).kind).toBe('asserted');
    expect(identityOf(define({}), [{ path: '/p/clock', sha256: 'a' }]).kind).toBe('asserted');
  });

  it('is pinned by the digest of its image', () => {
    const wrap = { ...WRAP, operand: [`img@${DIGEST}`] };
    expect(identityOf(define({ mode: 'wrap', wrap }), [])).toEqual({ kind: 'pinned', by: `image ${DIGEST}` });
    const hold = { start: ['docker', 'run', '-d', `img@${DIGEST}`], stop: [] };
    expect(identityOf(define({ mode: 'wrap', wrap: WRAP, hold }), [])).toEqual({ kind: 'pinned', by: `image ${DIGEST}` });
    const tagged = { ...wrap, operand: ['img:latest'] };
    expect(identityOf(define({ mode: 'wrap', wrap: tagged }), [{ path: '/p/x.lock', sha256: 'a' }]).kind).toBe('asserted');
  });

  it('is pinned by what its wrapper says that it holds', () => {
    expect(identityOf(define({ mode: 'wrap', wrap: WRAP }), [], DIGEST)).toEqual({ kind: 'pinned', by: `image ${DIGEST}` });
    expect(identityOf(define({ mode: 'wrap', wrap: WRAP }), [], 'vm 7')).toEqual({ kind: 'pinned', by: 'vm 7' });
  });

  it('is pinned by a path of the nix store', () => {
    const launch = { style: 'enter' as const, argv: [`${STORE}/bin/devenv`, 'shell', '--'] };
    expect(identityOf(define({ launch }), [])).toEqual({ kind: 'pinned', by: `store path ${STORE}` });
    expect(identityOf(define({ launch: { style: 'source', script: `${STORE}/env.sh` } }), [])).toMatchObject({ kind: 'pinned' });
  });

  it('is what its user says first of all', () => {
    const identity = identityOf(define({ identity: 'sdk 4.2' }), [{ path: '/p/flake.lock', sha256: 'b' }]);
    expect(identity).toEqual({ kind: 'asserted', by: 'sdk 4.2' });
    expect(formatIdentity(identity)).toBe('asserted by sdk 4.2');
  });

  it('is asserted by its definition where nothing else is', () => {
    expect(identityOf(define({}), [])).toEqual({ kind: 'asserted', by: 'its definition alone' });
    expect(identityOf(define({ mode: 'host' }), [])).toEqual({ kind: 'asserted', by: 'the host as it is' });
  });
});
