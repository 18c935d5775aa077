import { execPreset } from './container.js';
import { option, type Preset } from './preset.js';

/**
 * `docker exec` only relays for a process that the daemon makes. Its own failures are 125 (its command line), 126 (no such program,
 * directory or user; said on standard output) and 1 (no such container, and also any other status of the command: hence the proof).
 */
export const docker: Preset = execPreset(
  'docker',
  {
    context: { kind: 'text', about: 'docker’s --context', words: option('--context'), isGlobal: true },
    host: { kind: 'text', about: 'docker’s --host', words: option('--host'), isGlobal: true },
  },
  [1, 125, 126, 127],
);
