import { flag, joined, type Preset } from './preset.js';

/**
 * sudo(8): variables go by their names, for which its rules must have SETENV (ALL implies it); PATH is what its rules say (secure_path)
 * unless env(1) sets it inside. It closes descriptors above 2.
 */
export const sudo: Preset = {
  about: 'another user',
  prefix: ['sudo', '-n'],
  operand: { about: '', count: 'none' },
  facts: {
    envStyle: 'option-by-name',
    envOption: '--preserve-env=',
    ttyOption: [],
    endOfOptions: '--',
    failureCodes: [1],
    farSide: 'marker',
  },
  options: {
    user: { kind: 'text', about: 'who', words: joined('--user') },
    group: { kind: 'text', about: 'the group', words: joined('--group') },
    set_home: { kind: 'switch', about: 'HOME is that user’s', words: flag('--set-home') },
    chroot: { kind: 'text', about: 'another root directory', words: joined('--chroot') },
  },
};

/** setpriv(1) of util-linux: execs the command with other rights. */
export const setpriv: Preset = {
  about: 'other rights, such as a plain user’s (root only)',
  prefix: ['setpriv'],
  operand: { about: '', count: 'none' },
  facts: { envStyle: 'inherit', ttyOption: [], endOfOptions: '--', failureCodes: [1, 126, 127], farSide: 'local' },
  options: {
    reuid: { kind: 'text', about: 'the user', words: joined('--reuid') },
    regid: { kind: 'text', about: 'the group', words: joined('--regid') },
    groups: { kind: 'text', about: 'further groups, with commas', words: joined('--groups') },
    clear_groups: { kind: 'switch', about: 'no further groups', words: flag('--clear-groups') },
    init_groups: { kind: 'switch', about: 'the user’s own groups', words: flag('--init-groups') },
    no_new_privs: { kind: 'switch', about: 'no rights by set-user-id programs', words: flag('--no-new-privs') },
    bounding_set: { kind: 'text', about: 'capabilities that can be had at all, such as -all', words: joined('--bounding-set') },
    inh_caps: { kind: 'text', about: 'capabilities to inherit', words: joined('--inh-caps') },
    ambient_caps: { kind: 'text', about: 'capabilities that survive an exec', words: joined('--ambient-caps') },
  },
};
