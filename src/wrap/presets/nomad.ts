import { flag, joined, type Preset } from './preset.js';

/** `nomad alloc exec` asks for a terminal by itself where it sees one: so it is told each time. Variables as with kubectl. */
export const nomad: Preset = {
  about: 'an allocation of Nomad',
  prefix: ['nomad', 'alloc', 'exec', '-i=true', '-t=false'],
  operand: { about: 'the allocation; with the option job, the job', count: 'one' },
  facts: { envStyle: 'env-command', ttyOption: ['-t=true'], failureCodes: [1], farSide: 'marker' },
  options: {
    address: { kind: 'text', about: 'the server', words: joined('-address') },
    namespace: { kind: 'text', about: 'the namespace', words: joined('-namespace') },
    region: { kind: 'text', about: 'the region', words: joined('-region') },
    task: { kind: 'text', about: 'the task in it', words: joined('-task') },
    job: { kind: 'switch', about: 'any allocation of a job', words: flag('-job') },
  },
};
