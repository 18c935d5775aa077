import { execPreset } from './container.js';
import { option, type Preset } from './preset.js';

/** As docker, without a daemon: conmon is the command's parent. Its own failures are 125 to 127, and 255 for a container that does not run. */
export const podman: Preset = execPreset(
  'podman',
  {
    connection: { kind: 'text', about: 'podman’s --connection', words: option('--connection'), isGlobal: true },
    root: { kind: 'text', about: 'where podman has its storage', words: option('--root'), isGlobal: true },
    runroot: { kind: 'text', about: 'where podman has its state', words: option('--runroot'), isGlobal: true },
  },
  [125, 126, 127, 255],
);
