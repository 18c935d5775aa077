import { describe, expect, it } from 'vitest';

import { overlay } from '../../../src/config/overlay.js';

describe('flags laid over a file', () => {
  it('replace what is one thing', () => {
    expect(overlay({ idle_timeout: 1, mode: 'session' }, { idle_timeout: null })).toEqual({ idle_timeout: null, mode: 'session' });
  });

  it('add variables and names', () => {
    expect(overlay({ env: { A: '1', B: '1' }, pass_env: ['X'] }, { env: { B: '2' }, pass_env: ['Y'] })).toEqual({
      env: { A: '1', B: '2' },
      pass_env: ['X', 'Y'],
    });
  });

  it('put their directories foremost on PATH', () => {
    expect(overlay({ path_prepend: ['/file'] }, { path_prepend: ['/flag'] }).path_prepend).toEqual(['/flag', '/file']);
  });

  it('replace what is entered, however it was said', () => {
    expect(overlay({ launcher: ['su', '-c'], launcher_style: 'string', on_stale: 'warn' }, { source: '/env.sh' })).toEqual({
      source: '/env.sh',
      on_stale: 'warn',
    });
  });

  it('leave both as they were', () => {
    const under = { env: { A: '1' } };
    const over = { env: { B: '1' } };
    overlay(under, over);
    expect([under, over]).toEqual([{ env: { A: '1' } }, { env: { B: '1' } }]);
  });
});
