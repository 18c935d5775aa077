import { flag, option, type Preset } from './preset.js';

/** `runc exec` and `crun exec` have the same options, and the same status for each failure of their own. The process is theirs to relay. */
function ociExec(program: 'runc' | 'crun', facts: Pick<Preset['facts'], 'envStyle' | 'envOption' | 'textOnly'>): Preset {
  return {
    about: `a container of ${program}`,
    prefix: [program, 'exec'],
    operand: { about: 'the container', count: 'one' },
    facts: { ...facts, cwdOption: '--cwd', ttyOption: ['-t'], failureCodes: [1, 255], farSide: 'marker' },
    options: {
      root: { kind: 'text', about: 'where it has its state', words: option('--root'), isGlobal: true },
      user: { kind: 'text', about: 'who runs the commands: UID or UID:GID', words: option('--user') },
      cap: { kind: 'list', about: 'a further capability', words: option('--cap') },
      no_new_privs: { kind: 'switch', about: 'no rights by set-user-id programs', words: flag('--no-new-privs') },
    },
  };
}

/** Neither takes a variable by its name alone: values are in its command line, as long as it takes to start. */
export const runc: Preset = ociExec('runc', { envStyle: 'option', envOption: '-e', textOnly: true });
/** With one variable set, crun 1.8 forgets those of the container: so env(1) sets them inside. */
export const crun: Preset = ociExec('crun', { envStyle: 'env-command' });
