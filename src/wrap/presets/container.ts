// What docker and podman have in common: `exec` into a container that runs, or into one that is held for the session.

import type { HoldDefinition } from '../definition.js';
import {
  findOptionLike,
  flag,
  isOn,
  listOf,
  type OptionInfo,
  type OptionValues,
  option,
  type Preset,
  type PresetChoice,
  textOf,
} from './preset.js';

const INIT: Pick<OptionInfo, 'isOn'> = { isOn: true };

/** For a container that is started; also of the nsenter preset. */
export const IMAGE_OPTIONS: Readonly<Record<string, OptionInfo>> = {
  image: { kind: 'text', about: 'hold a container of this image while the session is open' },
  network: { kind: 'text', about: 'its network: none, host, bridge …' },
  mount: { kind: 'list', about: 'a further mount, as HOST:INSIDE' },
  init: { kind: 'switch', about: 'a process 1 that reaps orphans', isOn: true },
  command: { kind: 'list', about: 'what its process 1 runs, instead of sleeping' },
  run_args: { kind: 'list', about: 'further words for its `run`' },
};

export interface Engine {
  readonly program: 'docker' | 'podman';
  /** Before a subcommand. */
  readonly globals: readonly string[];
}

/** Held with the session's directory at its own place, which is also where its commands start. */
export function heldContainer({ program, globals }: Engine, choice: PresetChoice): HoldDefinition | undefined {
  const { options, directory } = choice;
  const image = textOf(options, 'image');
  if (image === undefined) return undefined;
  const user = textOf(options, 'user') ?? ownUser(program, choice);
  const network = textOf(options, 'network');
  const command = listOf(options, 'command');
  const call = [program, ...globals];
  return {
    start: [
      ...call,
      ...['run', '-d', '--rm', '--name', '{name}'],
      ...(isOn(options, 'init', INIT) ? ['--init'] : []),
      ...['-v', `${directory}:${directory}`, '-w', directory],
      ...listOf(options, 'mount').flatMap((each) => ['-v', each]),
      ...(network === undefined ? [] : ['--network', network]),
      ...(user === undefined || user === '' ? [] : ['--user', user]),
      ...listOf(options, 'run_args'),
      // An image's own entry point would take our words for its arguments.
      ...(command.length > 0 ? [image, ...command] : ['--entrypoint', 'sleep', image, 'infinity']),
    ],
    // docker kills at once; podman would ask a sleeping process 1, which does not hear, and wait ten seconds.
    stop: [...call, 'rm', '-f', ...(program === 'podman' ? ['-t', '0'] : []), '{name}'],
    identity: [...call, 'inspect', '--format', '{{.Image}}', '{name}'],
  };
}

/**
 * Files in the session's directory are to be the caller's. docker's daemon is root, and so is who runs in its containers; podman without
 * root maps the root inside to the caller already.
 */
function ownUser(program: Engine['program'], { uid, gid }: PresetChoice): string | undefined {
  return program === 'docker' && uid !== 0 ? `${uid}:${gid}` : undefined;
}

/** The values of the options that go before a subcommand. */
export function globalWords(options: OptionValues, infos: Readonly<Record<string, OptionInfo>>): readonly string[] {
  return Object.entries(infos).flatMap(([name, { isGlobal, words }]) =>
    isGlobal ? listOf(options, name).flatMap((each) => words?.(each) ?? []) : [],
  );
}

/** @param globals options that name another daemon or connection. */
export function execPreset(program: Engine['program'], globals: Preset['options'], failureCodes: readonly number[]): Preset {
  const options: Preset['options'] = {
    ...globals,
    // With an image it is `run` that is given the user: a command has the container's.
    user: { kind: 'text', about: 'who runs the commands: NAME or UID:GID' },
    privileged: { kind: 'switch', about: 'all capabilities', words: flag('--privileged') },
    ...IMAGE_OPTIONS,
  };
  return {
    about: `a container of ${program}, one that runs or one that is held for the session`,
    prefix: [program, 'exec', '-i'],
    operand: { about: 'the container', count: 'optional' },
    facts: {
      envStyle: 'option-by-name',
      envOption: '-e',
      cwdOption: '-w',
      ttyOption: ['-t'],
      textOnly: true,
      failureCodes,
      farSide: 'marker',
    },
    options,
    adjust: (choice) => {
      const user = textOf(choice.options, 'user');
      const hold = heldContainer({ program, globals: globalWords(choice.options, globals) }, choice);
      if (hold !== undefined) return { hold, operand: ['{name}'] };
      return user === undefined || user === '' ? {} : { operand: [...option('-u')(user), ...choice.operand] };
    },
    findFault: (choice) => findContainerFault(program, choice),
  };
}

export function findContainerFault(preset: string, { options, operand }: PresetChoice): ReturnType<NonNullable<Preset['findFault']>> {
  const hasImage = textOf(options, 'image') !== undefined;
  if (hasImage && operand.length > 0) {
    return {
      message: `preset "${preset}" is given both a container and an image`,
      hint: 'with an image the container is made for the session: leave out the operand',
    };
  }
  if (!hasImage && operand.length !== 1) {
    return {
      message: `preset "${preset}" needs one container as operand, or an image`,
      hint: `operand = ["box"], or options = { image = "debian:12" }`,
    };
  }
  const lone = Object.keys(IMAGE_OPTIONS).find((name) => !hasImage && options[name] !== undefined);
  if (lone !== undefined)
    return { message: `option '${lone}' has no meaning without 'image'`, hint: 'it is about a container that is made for the session' };
  return findOptionLike('image', textOf(options, 'image'));
}
