// Starts targets under a warden (native/warden.h), and hears of their changes from it.

import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { installed } from '../../../src/install.js';
import { type ChildChange, wardenKill, wardenNews } from '../../../src/native/children.js';
import { closeFd } from '../../../src/native/descriptors.js';
import { unwatch, watch } from '../../../src/native/poll.js';
import { spawn } from '../../../src/native/spawn.js';
import { eventually } from '../../harness/eventually.js';
import { requestFor, scratch, type TargetOptions } from './targets.js';

export interface Warded {
  pid: number;
  warden: number;
  control: number;
  output: string;
  /** What the warden has told, once it has ended. */
  news(): Promise<ChildChange[]>;
  /** What it has told so far. */
  readonly told: ChildChange[];
}

/** Ended with all that it holds at the end of the test. */
export function startWarded(argv: readonly string[], options: TargetOptions = {}): Warded {
  const outputPath = join(scratch(), 'output');
  const output = openSync(outputPath, 'a');
  const result = spawn({ ...requestFor(argv, options, output), warden: Buffer.from(`${installed.runnerExec}\0`) });
  closeSync(output);
  if (!result.started) throw new Error(`step ${result.step}, errno ${result.errno}, '${result.subject}'`);
  if (result.warden === undefined) throw new Error('there is no warden');
  if (result.pidfd >= 0) closeFd(result.pidfd);
  const { pid: warden, control } = result.warden;
  const told: ChildChange[] = [];
  let isGone = false;
  const listen = (): void => {
    for (;;) {
      const news = wardenNews(control);
      if (news === undefined) return;
      if (news === 'gone') {
        isGone = true;
        unwatch(control);
        closeFd(control);
        return;
      }
      told.push(news);
    }
  };
  let isWatched = false;
  const news = async (): Promise<ChildChange[]> => {
    if (!isWatched) watch(control, { readable: true }, listen);
    isWatched = true;
    return await eventually(() => {
      if (!isGone) throw new Error('the warden has not ended');
      return told;
    });
  };
  onTestFinished(async () => {
    if (!isGone) wardenKill(control);
    await news();
  });
  return { pid: result.pid, warden, control, output: outputPath, told, news };
}
