import { joined, type Preset, textOf } from './preset.js';

/**
 * chroot(1) of coreutils: execs the command, so its ending is the command's; 125 comes before that, 126 and 127 are of the command itself
 * (src/chroot.c, EXIT_CANCELED). It starts in the new root: the inside changes directory.
 */
export const chroot: Preset = {
  about: 'another root directory (root only)',
  prefix: ['chroot'],
  operand: { about: 'the root directory', count: 'one' },
  facts: { envStyle: 'inherit', startsIn: '/', ttyOption: [], failureCodes: [125], tells: 'name', farSide: 'local' },
  options: {
    user: { kind: 'text', about: 'whose rights the command has: a name or number that is known inside' },
    group: { kind: 'text', about: 'its group' },
    groups: { kind: 'text', about: 'its further groups, with commas', words: joined('--groups') },
  },
  adjust: ({ options, operand }) => {
    const user = textOf(options, 'user');
    const group = textOf(options, 'group');
    if (user === undefined && group === undefined) return {};
    return { operand: [`--userspec=${user ?? ''}${group === undefined ? '' : `:${group}`}`, ...operand] };
  },
};
