import { heldContainer, IMAGE_OPTIONS } from './container.js';
import { findOptionLike, flag, listOf, option, type Preset, type PresetChoice, textOf } from './preset.js';

/** The variables of the process that is entered, so that a command sees what `docker exec` would give it. */
const AS_TARGET = (pid: string): string => `for name in $(compgen -e); do unset "$name"; done
while IFS= read -r -d '' pair; do
  name=\${pair%%=*}
  if [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]]; then export "$name=\${pair#*=}"; fi
done </proc/${pid}/environ`;

/** What an engine says of a container that has ended. */
const RUNS = (pid: string): string => `if [[ ${pid} == 0 ]]; then echo 'the container does not run' >&2; exit 1; fi`;

function engineOf({ options }: PresetChoice): 'docker' | 'podman' {
  return textOf(options, 'engine') === 'podman' ? 'podman' : 'docker';
}

/** In the child: then that one's being there proves nothing. Whether `--all` enters another user namespace is seen on the machine. */
function setsUser(options: PresetChoice['options']): boolean {
  return options['setuid'] !== undefined || options['setgid'] !== undefined || listOf(options, 'only').includes('user');
}

/**
 * nsenter(1) of util-linux: the quickest way into a container of this machine, since no daemon takes part. A command in it is a process
 * of ours: in our cgroup and not in the container's, with our limits. `--wdns` is looked up inside.
 *
 * It execs the command; into a pid namespace it forks first, when all that can fail is done but setting user and group, and waits
 * (sys-utils/nsenter.c, continue_as_child). 126 and 127 are of the command itself.
 */
export const nsenter: Preset = {
  about: 'the namespaces of a process, or of a container of docker or podman on this machine',
  prefix: ['nsenter'],
  operand: { about: '', count: 'none' },
  facts: {
    envStyle: 'inherit',
    cwdOption: '--wdns=',
    ttyOption: [],
    endOfOptions: '--',
    failureCodes: [1],
    tells: 'child',
    farSide: 'local',
  },
  options: {
    target: { kind: 'text', about: 'a process in it' },
    container: { kind: 'text', about: 'a container that runs' },
    engine: { kind: 'text', about: 'whose container it is: docker (default) or podman' },
    only: {
      kind: 'list',
      about: 'the namespaces to enter: mount, uts, ipc, net, pid, user, cgroup, time; default: all',
      words: (name) => [`--${name}`],
    },
    root: { kind: 'switch', about: 'the root directory of the target, too', words: flag('--root') },
    setuid: { kind: 'text', about: 'the user’s number inside', words: option('--setuid') },
    setgid: { kind: 'text', about: 'the group’s', words: option('--setgid') },
    user: { kind: 'text', about: 'who process 1 of the image’s container is' },
    ...IMAGE_OPTIONS,
  },
  adjust: (choice) => {
    const { options } = choice;
    const all = options['only'] === undefined ? ['--all'] : [];
    const enter = (pid: string): Partial<ReturnType<NonNullable<Preset['adjust']>>> => ({
      operand: [...all, '--target', pid],
      enter: AS_TARGET(pid),
      ...(setsUser(options) ? { facts: { failureCodes: [1, 126, 127], tells: 'sign' } } : {}),
    });
    const enterRunning = (pid: string): ReturnType<typeof enter> => ({ ...enter(pid), enter: `${RUNS(pid)}\n${AS_TARGET(pid)}` });
    const target = textOf(options, 'target');
    if (target !== undefined) return enter(target);
    const program = engineOf(choice);
    const inspect = (name: string): string[] => [program, 'inspect', '--format', '{{.State.Pid}}', name];
    const hold = heldContainer({ program, globals: [] }, choice);
    if (hold !== undefined) return { ...enterRunning('{pid}'), hold: { ...hold, pid: inspect('{name}') } };
    const container = textOf(options, 'container') ?? '';
    return { ...enterRunning('{id}'), hold: { start: inspect(container), stop: [] } };
  },
  findFault: ({ options }) => {
    const ways = ['target', 'container', 'image'].filter((name) => options[name] !== undefined);
    if (ways.length !== 1) {
      return {
        message: `preset "nsenter" needs one of the options target, container, image, not ${ways.length === 0 ? 'none' : ways.join(' and ')}`,
        hint: 'such as options = { container = "box" }',
      };
    }
    const engine = options['engine'];
    if (engine !== undefined && engine !== 'docker' && engine !== 'podman')
      return { message: `option 'engine' must be "docker" or "podman"`, hint: 'other containers are entered by target' };
    return findOptionLike('container', textOf(options, 'container')) ?? findOptionLike('image', textOf(options, 'image'));
  },
};
