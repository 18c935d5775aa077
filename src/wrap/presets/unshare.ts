import { flag, isOn, joined, type Preset } from './preset.js';

/**
 * unshare(1) of util-linux: new namespaces for each command, which it execs; 126 and 127 are of the command itself (include/c.h, errexec).
 * With a pid namespace it stays as the parent, all inside dies with it, and most of its own doing is done by the child (sys-utils/unshare.c).
 */
export const unshare: Preset = {
  about: 'new namespaces for each command',
  prefix: ['unshare'],
  operand: { about: '', count: 'none' },
  facts: {
    envStyle: 'inherit',
    cwdOption: '--wd=',
    ttyOption: [],
    endOfOptions: '--',
    failureCodes: [1],
    tells: 'name',
    farSide: 'local',
  },
  options: {
    map_root_user: { kind: 'switch', about: 'be root in a user namespace', words: flag('--map-root-user') },
    map_current_user: { kind: 'switch', about: 'be oneself in a user namespace', words: flag('--map-current-user') },
    map_auto: { kind: 'switch', about: 'map the ranges of /etc/subuid', words: flag('--map-auto') },
    user: { kind: 'switch', about: 'a user namespace', words: flag('--user') },
    mount: { kind: 'switch', about: 'a mount namespace', words: flag('--mount') },
    pid: { kind: 'switch', about: 'a pid namespace', words: flag('--pid', '--fork', '--kill-child') },
    mount_proc: { kind: 'switch', about: 'a /proc of its own, for pid', words: flag('--mount-proc') },
    net: { kind: 'switch', about: 'a network namespace: no network', words: flag('--net') },
    ipc: { kind: 'switch', about: 'an ipc namespace', words: flag('--ipc') },
    uts: { kind: 'switch', about: 'a host name of its own', words: flag('--uts') },
    cgroup: { kind: 'switch', about: 'a cgroup namespace', words: flag('--cgroup') },
    root: { kind: 'text', about: 'another root directory', words: joined('--root') },
  },
  adjust: ({ options }) => (isOn(options, 'pid') ? { facts: { failureCodes: [1, 126, 127], tells: 'sign' } } : {}),
  findFault: ({ options }) =>
    isOn(options, 'mount_proc') && !isOn(options, 'pid')
      ? { message: "option 'mount_proc' has no meaning without 'pid'", hint: 'set pid = true as well' }
      : undefined,
};
