import { describe, expect, it } from 'vitest';
import { mapPath, mapWord } from '../../../src/wrap/path-map.js';

const MAP = { '/home/me': '/h', '/home/me/src': '/src', '/mnt/': '/data/', '/top': '/' };

describe('a path that is mapped', () => {
  it.each([
    ['/home/me', '/h'],
    ['/home/me/', '/h'],
    ['/home/me/a b', '/h/a b'],
    ['/home/me/src/x', '/src/x'],
    ['/home/melissa', '/home/melissa'],
    ['/mnt', '/data/'],
    ['/mnt/x', '/data/x'],
    ['/top', '/'],
    ['/top/x', '/x'],
    ['/else', '/else'],
  ])('%s is %s inside', (host, inside) => {
    expect(mapPath(MAP, host)).toBe(inside);
  });

  it('may be the whole of the host', () => {
    expect(mapPath({ '/': '/host' }, '/')).toBe('/host');
    expect(mapPath({ '/': '/host' }, '/a/b')).toBe('/host/a/b');
  });
});

describe('a word of a command', () => {
  it.each([
    ['/home/me/x', '/h/x'],
    ['--prefix=/home/me/x', '--prefix=/h/x'],
    ['A=b=/home/me', 'A=b=/home/me'],
    ['home/me', 'home/me'],
    ['-I/home/me', '-I/home/me'],
    ['', ''],
  ])('%s becomes %s', (word, mapped) => {
    expect(mapWord(MAP, word)).toBe(mapped);
  });
});
