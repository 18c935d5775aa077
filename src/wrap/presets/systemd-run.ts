import { flag, joined, type Preset } from './preset.js';

/** The service manager is the command's parent. It shows variables to whoever asks it about the unit. 200 to 245: see systemd.exec(5). */
export const systemdRun: Preset = {
  about: 'a transient service of systemd',
  prefix: ['systemd-run', '--quiet', '--collect', '--wait', '--pipe', '--service-type=exec'],
  operand: { about: '', count: 'none' },
  facts: {
    envStyle: 'option-by-name',
    envOption: '-E',
    cwdOption: '--working-directory=',
    ttyOption: ['--pty'],
    endOfOptions: '--',
    failureCodes: [1, 200, 203, 217],
    farSide: 'marker',
  },
  options: {
    user: { kind: 'switch', about: 'the user’s own manager', words: flag('--user') },
    machine: { kind: 'text', about: 'a container of systemd-machined', words: joined('--machine') },
    uid: { kind: 'text', about: 'whose rights it has', words: joined('--uid') },
    gid: { kind: 'text', about: 'its group', words: joined('--gid') },
    slice: { kind: 'text', about: 'the slice', words: joined('--slice') },
    property: { kind: 'list', about: 'a property of the unit, such as MemoryMax=2G', words: joined('--property') },
  },
};
