import { describe, expect, it } from 'vitest';

import { findContradiction, modeOf } from '../../../src/config/contradiction.js';
import type { SessionSettings } from '../../../src/config/settings.js';

describe('settings that cannot be together', () => {
  it.each<[SessionSettings, string]>([
    [{ launcher: ['x'], provider: 'direnv' }, 'provider'],
    [{ source: 'x', source_command: ['y'] }, 'source_command'],
    [{ mode: 'host', source: 'x' }, 'source'],
    [{ far_side: 'none' }, 'far_side'],
    [{ prefix: ['x'], kill: ['y'], far_side: 'local' }, 'kill'],
    [{ prefix: ['x'], map_argv: true }, 'map_argv'],
    [{ mode: 'session', prefix: ['x'] }, 'prefix'],
    [{ operand: ['x'] }, 'operand'],
    [{ source: 'x', launcher_style: 'string' }, 'launcher_style'],
    [{ prefix: ['x'], env_option: '-e' }, 'env_option'],
    [{ prefix: ['x'], env_style: 'env-command', env_option: '-e' }, 'env_option'],
  ])('are found: %j', (settings, key) => {
    expect(findContradiction(settings)?.key).toBe(key);
  });

  it.each<[SessionSettings]>([
    [{}],
    [{ launcher: ['nix-shell', '--run'], launcher_style: 'string' }],
    [{ prefix: ['x'], env_style: 'option', env_option: '-e', cwd_option: '-w', operand: ['box'] }],
    [{ mode: 'host', env: { A: '1' } }],
    [{ prefix: ['bwrap'], launcher: ['nix', 'develop', '--command'] }],
    [{ prefix: ['x'], map_argv: true, path_map: { '/a': '/b' } }],
  ])('are not imagined: %j', (settings) => {
    expect(findContradiction(settings)).toBeUndefined();
  });
});

describe('the mode', () => {
  it('is session, unless there is a prefix', () => {
    expect(modeOf({})).toBe('session');
    expect(modeOf({ prefix: ['x'] })).toBe('wrap');
    expect(modeOf({ mode: 'snapshot' })).toBe('snapshot');
  });
});
