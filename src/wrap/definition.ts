// What is put in front of each command of a session with mode "wrap", and what is known of the wrapper. docs/config.md "Wrap".

export const ENV_STYLES = ['inherit', 'option', 'option-by-name', 'setenv', 'env-command', 'remote-shell'] as const;
export type EnvStyle = (typeof ENV_STYLES)[number];

/** How a wrapper takes its command: as words, or as one word for a shell on the other side (always with `remote-shell`). */
export const COMMAND_STYLES = ['words', 'string'] as const;
export type CommandStyle = (typeof COMMAND_STYLES)[number];

/** How what a wrapper started is ended: found by a variable in its environment; not at all; with the wrapper's own processes. */
export const FAR_SIDES = ['marker', 'none', 'local'] as const;
export type FarSideKind = (typeof FAR_SIDES)[number];

/**
 * How it is known whose an exit code is that may be the wrapper's own (src/agent/start-proof.ts).
 *
 * - `sign`: the inside leaves one before the command is executed; true of any wrapper, and costs a shell.
 * - `name`: the wrapper execs the command in its own process, whose name is the wrapper's until then.
 * - `child`: as `name`; or it forks, once nothing of its own is left to be done, and waits.
 * - `status`: the wrapper writes into a descriptor how the command ended, if that was started.
 */
export const TELLS = ['sign', 'name', 'child', 'status'] as const;
export type Tells = (typeof TELLS)[number];

export interface WrapDefinition {
  readonly prefix: readonly string[];
  /** Behind the wrapper's options: the container, the host. */
  readonly operand: readonly string[];
  readonly envStyle: EnvStyle;
  /** Of the styles that have one. Ends with `=`: the value is in the same word; by name, it takes names alone. */
  readonly envOption?: string;
  /** Absent: the inside changes directory by itself. Ends with `=`: the directory is in the same word. */
  readonly cwdOption?: string;
  /** Where the wrapper starts every command, of one without such an option. */
  readonly startsIn?: string;
  /** Given only to commands whose 0, 1 and 2 are terminals. */
  readonly ttyOption: readonly string[];
  /** What the wrapper takes as the end of its options, between operand and command. */
  readonly endOfOptions?: string;
  readonly commandStyle?: CommandStyle;
  /** It passes words on as JSON, which has no bytes that are not UTF-8: they would arrive as others. */
  readonly textOnly?: boolean;
  /** Directory of the host → the same directory inside. */
  readonly pathMap: Readonly<Record<string, string>>;
  /** Whether paths among the command's words are mapped too. */
  readonly mapArgv: boolean;
  /** Exit codes by which the wrapper tells of its own failure. */
  readonly failureCodes: readonly number[];
  /** Absent: `sign`. */
  readonly tells?: Tells;
  /** With `status`: the option that takes the number of the descriptor. */
  readonly statusOption?: string;
  readonly farSide: FarSideKind;
  /** Ends what runs on the far side, in place of our own script. */
  readonly kill?: readonly string[];
}

/** What is made at the opening of a wrap session and ended with it, most often a container. placeholders.ts has the placeholders. */
export interface HoldDefinition {
  /** The last line that it prints is {id}. */
  readonly start: readonly string[];
  /** Empty: nothing is to be stopped. */
  readonly stop: readonly string[];
  /** Prints {pid}. */
  readonly pid?: readonly string[];
  /** Prints what exactly is held, such as the digest of an image. */
  readonly identity?: readonly string[];
}

/** The wrapper hands its own environment on: only then is the inside's known to us. */
export function inheritsEnvironment(wrap: Pick<WrapDefinition, 'envStyle'>): boolean {
  return wrap.envStyle === 'inherit';
}

/**
 * The wrapper runs in an environment that only the caller has.
 *
 * @param isEntered the session has a launcher, in whose environment it runs instead.
 */
export function needsCaller(wrap: Pick<WrapDefinition, 'prefix' | 'envStyle'>, isEntered: boolean): boolean {
  const isLookedUp = !(wrap.prefix[0] ?? '').includes('/');
  return !isEntered && (isLookedUp || !inheritsEnvironment(wrap));
}

export function takesString({ envStyle, commandStyle }: Pick<WrapDefinition, 'envStyle' | 'commandStyle'>): boolean {
  return envStyle === 'remote-shell' || commandStyle === 'string';
}
