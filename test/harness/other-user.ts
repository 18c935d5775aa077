// An ordinary user, where the tests run as root: for what the kernel forbids or limits only such a one. To be used behind
// needs(test, 'root', 'setpriv').

import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Holdfast, programs } from './holdfast.js';
import type { Ended, Running } from './running.js';

/** On every Linux. */
const NOBODY = 65534;

export class OtherUser {
  readonly uid: number;
  /** Its own, mode 0700, inside the test file's. */
  readonly directory: string;
  readonly #holdfast: Holdfast;

  constructor(holdfast: Holdfast, uid: number = NOBODY) {
    this.#holdfast = holdfast;
    this.uid = uid;
    // To be passed through only; the runtime directory in it stays closed.
    chmodSync(holdfast.directory, 0o711);
    this.directory = holdfast.folder('other-user');
    mkdirSync(join(this.directory, 'tmp'));
    for (const path of [this.directory, join(this.directory, 'tmp')]) {
      chownSync(path, uid, uid);
      chmodSync(path, 0o700);
    }
  }

  start(argv: readonly [string, ...string[]], env: Record<string, string> = {}): Running {
    const own = { HOME: this.directory, TMPDIR: join(this.directory, 'tmp'), HOLDFAST_RUNTIME_DIR: join(this.directory, 'run') };
    const drop = ['setpriv', `--reuid=${this.uid}`, `--regid=${this.uid}`, '--clear-groups'] as const;
    return this.#holdfast.start([...drop, ...argv], { cwd: '/', env: { ...own, ...env } });
  }

  async run(argv: readonly [string, ...string[]], env: Record<string, string> = {}): Promise<Ended> {
    return await this.start(argv, env).ended;
  }

  /** A bash script that has `hold` (holdfast) and `runner` (runner-exec) as functions, with a runtime directory of this user's own. */
  async script(text: string, env: Record<string, string> = {}): Promise<Ended> {
    const functions = `hold() { '${process.execPath}' '${programs.holdfast}' "$@"; }; runner() { '${programs.runnerExec}' "$@"; }`;
    return await this.run(['bash', '-c', `${functions}\ncd "$HOME"\n${text}`], env);
  }
}
