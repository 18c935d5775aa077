import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../src/errors.js';
import { killProcess } from '../../../src/native/processes.js';
import { isAlive } from '../../../src/process-tree.js';
import { closeSession } from '../../../src/session/close.js';
import { openSession } from '../../../src/session/open.js';
import { findRecord } from '../../../src/session/record.js';
import type { HoldDefinition } from '../../../src/wrap/definition.js';
import { eventually } from '../../harness/eventually.js';
import { wrapOf } from '../wrap/wraps.js';
import { define, type Scratch, useScratch } from './place.js';

/** Something that lives until it is stopped: `started` and `stopped` say so, by the id. */
function held(scratch: Scratch, more: Partial<HoldDefinition> = {}): HoldDefinition {
  return {
    start: ['sh', '-c', `echo pulling >&2; setsid sleep 1000 >/dev/null 2>&1 & echo first; echo $! | tee -a ${scratch.work}/started`],
    stop: ['sh', '-c', `kill {id}; echo {id} >>${scratch.work}/stopped`],
    ...more,
  };
}

const lines = (path: string): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);

async function expectStopped(scratch: Scratch): Promise<void> {
  await eventually(() => {
    expect(lines(join(scratch.work, 'started'))).toHaveLength(1);
    expect(lines(join(scratch.work, 'stopped'))).toEqual(lines(join(scratch.work, 'started')));
    expect(scratch.files().filter((name) => !name.endsWith('.log'))).toEqual([]);
  }, 20_000);
  await eventually(() => {
    for (const pid of lines(join(scratch.work, 'started'))) expect(isAlive(Number(pid))).toBe(false);
  }, 20_000);
}

async function failure(opening: Promise<unknown>): Promise<HoldfastError> {
  const error: unknown = await opening.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`no failure of ours: ${error}`);
  return error;
}

describe('what a session holds', () => {
  it('is started once, and is stopped when the session is closed', async () => {
    const scratch = useScratch();
    const definition = define(scratch, [], { hold: held(scratch) });
    const lasts: string[] = [];
    await openSession(definition, { progress: (line) => lasts.push(line) });
    expect(await openSession(definition)).toMatchObject({ opened: false });
    const [id = ''] = lines(join(scratch.work, 'started'));
    expect(findRecord(join(scratch.runtime, 'web.json'))?.held).toMatchObject({
      id,
      name: expect.stringMatching(/^holdfast-web-[0-9a-f]{8}$/),
    });
    expect(isAlive(Number(id))).toBe(true);
    await closeSession('web');
    await expectStopped(scratch);
  });

  it('is asked for a process in it and for its identity', async () => {
    const scratch = useScratch();
    const hold = held(scratch, { pid: ['echo', '12{id}'], identity: ['sh', '-c', 'echo; echo sha256:{name}'] });
    await openSession(define(scratch, [], { hold }));
    const record = findRecord(join(scratch.runtime, 'web.json'));
    expect(record?.held).toMatchObject({ pid: `12${record?.held?.id}`, identity: `sha256:${record?.held?.name}` });
    await closeSession('web');
    await expectStopped(scratch);
  });

  it('is stopped when the session has idled out', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, [], { hold: held(scratch), idleTimeoutMs: 50 }));
    await expectStopped(scratch);
    await eventually(() => expect(isAlive(pid)).toBe(false), 20_000);
  });

  it('is stopped when the agent is killed outright', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, [], { hold: held(scratch) }));
    killProcess(pid, 9);
    await eventually(() => expect(lines(join(scratch.work, 'stopped'))).toHaveLength(1), 20_000);
    await closeSession('web');
    await expectStopped(scratch);
  });

  it('is stopped by whoever closes, when agent and keeper are killed', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, [], { hold: held(scratch) }));
    const keeper = findRecord(join(scratch.runtime, 'web.json'))?.held?.keeperPid ?? 0;
    killProcess(keeper, 9);
    killProcess(pid, 9);
    await closeSession('web');
    await expectStopped(scratch);
  });

  it('is stopped when the agent cannot be started', async () => {
    const scratch = useScratch();
    const error = await failure(openSession(define(scratch, ['false'], { hold: held(scratch) })));
    expect(error.code).toBe('LAUNCH_FAILED');
    await expectStopped(scratch);
  });

  it('is stopped when the opening is interrupted while it starts', async () => {
    const scratch = useScratch();
    const slow = held(scratch, {
      start: [
        'sh',
        '-c',
        `setsid sleep 1000 >/dev/null 2>&1 & touch ${scratch.work}/begun; sleep 1; echo $! | tee -a ${scratch.work}/started`,
      ],
    });
    const controller = new AbortController();
    const opening = failure(openSession(define(scratch, [], { hold: slow }), { signal: controller.signal }));
    await eventually(() => expect(existsSync(join(scratch.work, 'begun'))).toBe(true), 20_000);
    controller.abort();
    expect((await opening).code).toBe('LAUNCH_INTERRUPTED');
    await expectStopped(scratch);
  });

  it('is given up when it does not start in time, by the name that it was given', async () => {
    const scratch = useScratch();
    const stubborn: HoldDefinition = {
      start: ['sh', '-c', 'trap "" TERM; echo {name}; sleep 1000'],
      stop: ['sh', '-c', `echo {name} >>${scratch.work}/stopped`],
    };
    const error = await failure(openSession(define(scratch, [], { hold: stubborn, openTimeoutMs: 300 })));
    expect(error).toMatchObject({
      code: 'LAUNCH_TIMEOUT',
      message: expect.stringMatching(/did not end within 0.3 s; its last words were 'holdfast-web-/),
    });
    // Once more a moment later: what a killed client asked of its daemon may come true after its end.
    expect(new Set(lines(join(scratch.work, 'stopped'))).size).toBe(1);
  });

  it('leaves nothing when the start command fails, and says what it said', async () => {
    const scratch = useScratch();
    const hold: HoldDefinition = { start: ['sh', '-c', 'echo no such image >&2; exit 7'], stop: ['false'] };
    const error = await failure(openSession(define(scratch, [], { hold })));
    expect(error).toMatchObject({
      code: 'LAUNCH_FAILED',
      message: "the start command of session 'web' ended with status 7; its last words were 'no such image'",
    });
    expect(scratch.files()).toEqual(['web.log']);
    const missing = await failure(openSession(define(scratch, [], { hold: { start: ['/no/such/engine'], stop: [] } })));
    expect(missing.message).toContain("cannot run '/no/such/engine': No such file or directory");
  });

  it('has to be named by the start command where its id is needed', async () => {
    const scratch = useScratch();
    const hold: HoldDefinition = { start: ['true'], stop: ['touch', join(scratch.work, 'stopped-{name}')] };
    const wrap = { ...wrapOf({ prefix: ['env'] }), operand: ['{id}'] };
    expect(await failure(openSession(define(scratch, [], { hold, wrap })))).toMatchObject({
      code: 'LAUNCH_FAILED',
      message: "the start command of session 'web' printed nothing, and its last line is what {id} stands for",
      hint: 'let it print the name of what it has made, or say {name} in place of {id}',
    });
    expect(scratch.files()).toEqual([]);
    expect(readdirSync(scratch.work)).toContainEqual(expect.stringMatching(/^stopped-holdfast-web-/));

    await openSession(define(scratch, [], { hold, wrap: { ...wrap, operand: ['{name}'] } }));
    await closeSession('web');
  });

  it('is told of, and tried again, when it cannot be stopped', async () => {
    const scratch = useScratch();
    const hold = held(scratch, {
      stop: [
        'sh',
        '-c',
        `test -e ${scratch.work}/may-stop || { echo device busy >&2; exit 3; }; kill {id}; echo {id} >>${scratch.work}/stopped`,
      ],
    });
    await openSession(define(scratch, [], { hold }));
    const error = await failure(closeSession('web'));
    expect(error).toMatchObject({ code: 'STOP_FAILED', message: expect.stringContaining('device busy') });
    writeFileSync(join(scratch.work, 'may-stop'), '');
    await closeSession('web');
    await expectStopped(scratch);
  });

  it('has the environment of its opener to the end, and its directory', async () => {
    const scratch = useScratch();
    process.env['ENGINE9'] = 'tcp://there';
    const hold = held(scratch, { stop: ['sh', '-c', `kill {id}; echo {id} >>${scratch.work}/stopped; echo "$ENGINE9 $PWD" >seen`] });
    try {
      await openSession(define(scratch, [], { hold }));
    } finally {
      delete process.env['ENGINE9'];
    }
    await closeSession('web');
    expect(lines(join(scratch.work, 'seen'))).toEqual([`tcp://there ${scratch.work}`]);
    await expectStopped(scratch);
  });
});
