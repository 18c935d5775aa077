import { option, type Preset } from './preset.js';

/** `kubectl exec` takes neither variables nor a directory: env(1) and sh inside see to both, so values are in command lines. It says on
 * standard error, too, when a command ends with a status other than 0. Its own failure is 1. */
export const kubectl: Preset = {
  about: 'a pod of Kubernetes',
  prefix: ['kubectl', 'exec', '-i'],
  operand: { about: 'the pod, or TYPE/NAME', count: 'one' },
  facts: { envStyle: 'env-command', ttyOption: ['-t'], endOfOptions: '--', failureCodes: [1], farSide: 'marker' },
  options: {
    context: { kind: 'text', about: 'the context of the kubeconfig', words: option('--context') },
    kubeconfig: { kind: 'text', about: 'another kubeconfig', words: option('--kubeconfig') },
    namespace: { kind: 'text', about: 'the pod’s namespace', words: option('--namespace') },
    container: { kind: 'text', about: 'the container in the pod', words: option('--container') },
  },
};
