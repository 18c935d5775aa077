// What a session's table in holdfast.toml may say, once it is read; schema.ts checks it. Apart from it, since the library's types speak
// of this and are shipped without the checker's.

import type { CommandStyle, EnvStyle, FarSideKind } from '../wrap/definition.js';
import type { OptionValue } from '../wrap/presets/preset.js';

/** A session as declared: what is absent was not said. Durations are milliseconds, `null` is "never"; sizes are bytes. */
export interface SessionSettings {
  /** Gone once file and flags are settled: extends.ts. */
  extends?: string;
  mode?: 'host' | 'snapshot' | 'session' | 'wrap';
  launcher?: string[];
  launcher_style?: 'words' | 'string';
  source?: string;
  source_command?: string[];
  provider?: string;
  env?: Record<string, string>;
  runtime_env?: Record<string, string>;
  pass_env?: string[];
  runtime_pass_env?: string[];
  launch_pass_env?: string[];
  path_prepend?: string[];
  functions?: 'all' | 'none' | string[];
  inputs?: string[];
  on_stale?: 'reopen' | 'warn' | 'refuse';
  idle_timeout?: number | null;
  open_timeout?: number;
  kill_grace?: number;
  max_concurrent?: number;
  max_queue?: number;
  job_output_limit?: number;
  containment?: 'auto' | 'cgroup' | 'warden' | 'group';
  identity?: string;
  volatile?: string[];
  preset?: string;
  options?: Record<string, OptionValue>;
  prefix?: string[];
  operand?: string[];
  env_style?: EnvStyle;
  env_option?: string;
  cwd_option?: string;
  tty_option?: string[];
  end_of_options?: string;
  command_style?: CommandStyle;
  path_map?: Record<string, string>;
  map_argv?: boolean;
  failure_codes?: number[];
  far_side?: FarSideKind;
  kill?: string[];
  start?: string[];
  stop?: string[];
}
