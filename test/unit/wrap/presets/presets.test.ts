// What each preset gives a wrapper, word for word, also of those that no test can run here (kubectl, nomad, systemd-run, sudo); and
// that docs/presets.md says the same.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wrapCommand } from '../../../../src/wrap/command.js';
import type { WrapDefinition } from '../../../../src/wrap/definition.js';
import type { OptionValues, PresetChoice } from '../../../../src/wrap/presets/preset.js';
import { choosePreset, PRESET_NAMES, PRESETS } from '../../../../src/wrap/presets/presets.js';
import { insideOf } from '../wraps.js';

const CALLER = { directory: '/src', uid: 1000, gid: 100 };

function presetOf(name: string): (typeof PRESETS)[string] {
  const preset = PRESETS[name];
  if (preset === undefined) throw new Error(`no preset '${name}'`);
  return preset;
}

function chosen(name: string, options: OptionValues = {}, operand: readonly string[] = [], caller: Partial<PresetChoice> = {}) {
  return choosePreset(presetOf(name), { options, operand, ...CALLER, ...caller });
}

function fault(name: string, options: OptionValues, operand: readonly string[] = []): string | undefined {
  return presetOf(name).findFault?.({ options, operand, ...CALLER })?.message;
}

/** The wrapper's words for `make all` with A='x y' in /src/a; on a terminal, where that is asked. */
function words(name: string, options: OptionValues, operand: readonly string[], isTerminal = false): readonly string[] {
  const { prefix, operand: behind, facts } = chosen(name, options, operand);
  const wrap: WrapDefinition = { ...facts, prefix, operand: behind, pathMap: {}, mapArgv: false };
  return wrapCommand(wrap, { argv: ['make', 'all'], environment: insideOf({ set: new Map([['A', 'x y']]) }), cwd: '/src/a', isTerminal })
    .argv;
}

const CD = ['/bin/sh', '-c', 'cd -- /src/a || exit 125\nunset OLDPWD\nexec "$@"', 'sh'];

describe('the words of a preset', () => {
  it.each<[string, OptionValues, readonly string[], readonly string[]]>([
    ['chroot', {}, ['/root9'], ['chroot', '/root9', ...CD, 'make', 'all']],
    ['chroot', { user: '1', group: '2', groups: '3,4' }, ['/r'], ['chroot', '--groups=3,4', '--userspec=1:2', '/r', ...CD, 'make', 'all']],
    [
      'unshare',
      { map_root_user: true, pid: true, mount_proc: 'true', net: false },
      [],
      ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc', '--wd=/src/a', '--', 'make', 'all'],
    ],
    [
      'bubblewrap',
      { ro_bind: ['/', '/a:/b'], tmpfs: '/tmp', bind: '/src', unshare_net: true },
      [],
      [
        'bwrap',
        '--die-with-parent',
        '--ro-bind',
        '/',
        '/',
        '--ro-bind',
        '/a',
        '/b',
        '--tmpfs',
        '/tmp',
        '--bind',
        '/src',
        '/src',
        '--unshare-net',
        '--chdir',
        '/src/a',
        '--',
        'make',
        'all',
      ],
    ],
    ['bubblewrap', { bind: ['/'], die_with_parent: false }, [], ['bwrap', '--bind', '/', '/', '--chdir', '/src/a', '--', 'make', 'all']],
    ['nsenter', { target: '7' }, [], ['nsenter', '--wdns=/src/a', '--all', '--target', '7', '--', 'make', 'all']],
    [
      'nsenter',
      { target: '7', only: ['mount', 'net'] },
      [],
      ['nsenter', '--mount', '--net', '--wdns=/src/a', '--target', '7', '--', 'make', 'all'],
    ],
    ['nsenter', { container: 'box' }, [], ['nsenter', '--wdns=/src/a', '--all', '--target', '{id}', '--', 'make', 'all']],
    [
      'docker',
      { context: 'far', user: 'me' },
      ['box'],
      ['docker', '--context', 'far', 'exec', '-i', '-e', 'A', '-w', '/src/a', '-u', 'me', 'box', 'make', 'all'],
    ],
    ['podman', { root: '/r' }, ['box'], ['podman', '--root', '/r', 'exec', '-i', '-e', 'A', '-w', '/src/a', 'box', 'make', 'all']],
    [
      'runc',
      { root: '/r', user: '1:2' },
      ['box'],
      ['runc', '--root', '/r', 'exec', '--user', '1:2', '-e', 'A=x y', '--cwd', '/src/a', 'box', 'make', 'all'],
    ],
    ['crun', {}, ['box'], ['crun', 'exec', '--cwd', '/src/a', 'box', 'env', 'A=x y', 'make', 'all']],
    [
      'nix-develop',
      { impure: true, option: 'cores=1' },
      ['.#ci'],
      ['nix', 'develop', '--impure', '--option', 'cores', '1', '.#ci', '--command', ...CD, 'make', 'all'],
    ],
    [
      'nix-shell',
      { pure: true },
      ['ci.nix'],
      ['nix-shell', '--pure', 'ci.nix', '--run', 'cd -- /src/a || exit 125\nunset OLDPWD\nexec make all'],
    ],
    [
      'ssh',
      { port: '22', config: '/c' },
      ['far'],
      ['ssh', '-T', '-p', '22', '-F', '/c', 'far', '--', "cd -- /src/a || exit 125\nunset OLDPWD\nexec env 'A=x y' make all"],
    ],
    [
      'ssh',
      { send_env: true },
      ['far'],
      [
        ...['ssh', '-T', '-oSendEnv=HOLDFAST_LENT_0', 'far', '--'],
        '[ "${HOLDFAST_LENT_0+x}" ] || { echo "holdfast: variable \'A\' was not let in (as HOLDFAST_LENT_0)" >&2; exit 125; }\n' +
          'A=$HOLDFAST_LENT_0; export A; unset HOLDFAST_LENT_0\ncd -- /src/a || exit 125\nunset OLDPWD\nexec make all',
      ],
    ],
    [
      'kubectl',
      { namespace: 'ci', container: 'main' },
      ['pod/build-0'],
      ['kubectl', 'exec', '-i', '--namespace', 'ci', '--container', 'main', 'pod/build-0', '--', ...CD, 'env', 'A=x y', 'make', 'all'],
    ],
    [
      'nomad',
      { task: 'build', address: 'http://n:4646' },
      ['8ba85cef'],
      [
        'nomad',
        'alloc',
        'exec',
        '-i=true',
        '-t=false',
        '-task=build',
        '-address=http://n:4646',
        '8ba85cef',
        ...CD,
        'env',
        'A=x y',
        'make',
        'all',
      ],
    ],
    [
      'systemd-run',
      { user: true, property: ['MemoryMax=2G', 'CPUQuota=50%'] },
      [],
      [
        ...[
          'systemd-run',
          '--quiet',
          '--collect',
          '--wait',
          '--pipe',
          '--service-type=exec',
          '--user',
          '--property=MemoryMax=2G',
          '--property=CPUQuota=50%',
        ],
        ...['-E', 'A', '--working-directory=/src/a', '--', 'make', 'all'],
      ],
    ],
    ['sudo', { user: 'ci' }, [], ['sudo', '-n', '--user=ci', '--preserve-env=A', '--', ...CD, 'make', 'all']],
    ['setpriv', { reuid: '1', clear_groups: true }, [], ['setpriv', '--reuid=1', '--clear-groups', '--', ...CD, 'make', 'all']],
  ])('%s %j', (name, options, operand, expected) => {
    expect(words(name, options, operand)).toEqual(expected);
  });

  it('ask for a terminal only where there is one', () => {
    expect(words('docker', {}, ['box'], true)).toEqual(['docker', 'exec', '-i', '-t', '-e', 'A', '-w', '/src/a', 'box', 'make', 'all']);
    expect(words('ssh', {}, ['box'], true).slice(0, 4)).toEqual(['ssh', '-T', '-tt', 'box']);
    expect(words('nomad', {}, ['x'], true).slice(3, 6)).toEqual(['-i=true', '-t=false', '-t=true']);
    expect(words('systemd-run', {}, [], true)).toContain('--pty');
  });
});

describe('a container that a preset holds', () => {
  const image = { image: 'debian:12', network: 'none', mount: ['/cache:/cache'] };

  it('has the directory at its own place, a reaper, and the caller as its user', () => {
    const { hold, operand } = chosen('docker', image);
    expect(hold).toEqual({
      start: [
        'docker',
        'run',
        '-d',
        '--rm',
        '--name',
        '{name}',
        '--init',
        '-v',
        '/src:/src',
        '-w',
        '/src',
        '-v',
        '/cache:/cache',
        '--network',
        'none',
        '--user',
        '1000:100',
        '--entrypoint',
        'sleep',
        'debian:12',
        'infinity',
      ],
      stop: ['docker', 'rm', '-f', '{name}'],
      identity: ['docker', 'inspect', '--format', '{{.Image}}', '{name}'],
    });
    expect(operand).toEqual(['{name}']);
  });

  it('is of the image’s user where that is asked, and always with podman', () => {
    const plain = [
      'docker',
      'run',
      '-d',
      '--rm',
      '--name',
      '{name}',
      '--init',
      '-v',
      '/src:/src',
      '-w',
      '/src',
      '--entrypoint',
      'sleep',
      'a',
      'infinity',
    ];
    expect(chosen('docker', { image: 'a', user: '' }).hold?.start).toEqual(plain);
    expect(chosen('docker', { image: 'a' }, [], { uid: 0, gid: 0 }).hold?.start).toEqual(plain);
    expect(chosen('podman', { image: 'a', init: false, command: ['/init', '-x'] }).hold).toMatchObject({
      start: ['podman', 'run', '-d', '--rm', '--name', '{name}', '-v', '/src:/src', '-w', '/src', 'a', '/init', '-x'],
      stop: ['podman', 'rm', '-f', '-t', '0', '{name}'],
    });
  });

  it('is reached by the same daemon that started it', () => {
    const { hold, prefix } = chosen('docker', { image: 'a', context: 'far' });
    for (const call of [hold?.start, hold?.stop, hold?.identity, prefix]) expect(call?.slice(0, 3)).toEqual(['docker', '--context', 'far']);
  });

  it('can be entered by nsenter', () => {
    const { hold, operand, enter } = chosen('nsenter', { image: 'a', engine: 'podman' });
    expect(operand).toEqual(['--all', '--target', '{pid}']);
    expect(enter).toContain('/proc/{pid}/environ');
    expect(hold?.pid).toEqual(['podman', 'inspect', '--format', '{{.State.Pid}}', '{name}']);
    expect(hold?.start[0]).toBe('podman');
  });

  it('is not entered by nsenter once it has ended', () => {
    for (const options of [{ image: 'a' }, { container: 'box' }]) {
      const enter = chosen('nsenter', options).enter?.replaceAll(/\{(id|pid)\}/g, '0') ?? '';
      const { status, stderr } = spawnSync('bash', ['-c', enter]);
      expect([status, stderr.toString()]).toEqual([1, 'the container does not run\n']);
    }
  });
});

describe('what a preset lacks', () => {
  it.each<[string, OptionValues, readonly string[], RegExp]>([
    ['docker', {}, [], /needs one container as operand, or an image/],
    ['docker', { image: 'a' }, ['box'], /both a container and an image/],
    ['podman', { network: 'none' }, ['box'], /'network' has no meaning without 'image'/],
    ['bubblewrap', { unshare_net: true }, [], /nothing to see/],
    ['nsenter', {}, [], /needs one of the options target, container, image, not none/],
    ['nsenter', { target: '1', container: 'a' }, [], /not target and container/],
    ['nsenter', { container: 'a', engine: 'lxc' }, [], /must be "docker" or "podman"/],
    ['unshare', { mount_proc: true }, [], /without 'pid'/],
  ])('is said: %s %j %j', (name, options, operand, message) => {
    expect(fault(name, options, operand)).toMatch(message);
  });

  it('is nothing, where all is there', () => {
    expect(fault('docker', {}, ['box'])).toBeUndefined();
    expect(fault('nsenter', { container: 'a', engine: 'podman' })).toBeUndefined();
    expect(fault('bubblewrap', { ro_bind: '/' })).toBeUndefined();
  });
});

describe('docs/presets.md', () => {
  const text = readFileSync(new URL('../../../../docs/presets.md', import.meta.url), 'utf8');
  const sections = new Map(
    text
      .split('\n## ')
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  );

  it('has a section for each preset', () => {
    expect([...sections.keys()]).toEqual([...PRESET_NAMES]);
  });

  it.each(PRESET_NAMES)('says of %s what its file says', (name) => {
    const { options, facts } = presetOf(name);
    const section = sections.get(name) ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    expect(rows).toEqual(
      Object.entries(options).map(([key, { kind, isOn, about }]) => `| \`${key}\` | ${kind}${isOn ? ', on' : ''} | ${about} |`),
    );
    expect(section).toContain(`its own failures: ${facts.failureCodes.join(', ')}`);
    expect(section).toContain(`far side: \`${facts.farSide}\``);
    expect(section).toContain(facts.envStyle === 'inherit' ? 'variables: inherited' : `variables: \`${facts.envStyle}\``);
  });
});
