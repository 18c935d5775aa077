// A session on top of another: its launcher is a command of the one beneath, and so is the agent that it starts. It ends with the
// session beneath, since it is part of what runs there.

import { join } from 'node:path';

import { installed } from '../install.js';
import type { SessionDefinition } from './definition.js';
import { isBashLauncher, launchArgv } from './launch-command.js';

/** The same definition, entered from within the session that serves on `socket` (absolute). */
export function layeredDefinition(definition: SessionDefinition, socket: string): SessionDefinition {
  const { launch, directory } = definition;
  const client = [installed.runnerExec, '--socket', socket, '--no-jobserver', '--cwd', directory];
  const isSourced = launch.style === 'source' || launch.style === 'source-command';
  // What launchEnvironment() gives a launcher, which here stays outside, so that functions survive this entry too.
  const bashEnv = join(installed.share, isBashLauncher(launch, directory) ? 'launcher-env.sh' : 'bash-env.sh');
  const variables = isSourced ? [] : ['-e', `BASH_ENV=${bashEnv}`, '-e', `HOLDFAST_LAUNCH=${bashEnv}`];
  const style = launch.style === 'enter-string' ? 'enter-string' : 'enter';
  const inner = launch.style === 'enter-string' ? launch.argv : launchArgv(launch, directory, [], installed.share);
  return { ...definition, launch: { style, argv: [...client, ...variables, '--', ...inner] } };
}
