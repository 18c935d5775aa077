// Pins native/fd.c: sd_notify datagrams, to a path (received by unix-dgram) and to an abstract address (received by python).

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeFd } from '../../../src/native/descriptors.js';
import { bindDatagram, notify, receiveDatagram } from '../../../src/native/sockets.js';
import { NativeError } from '../../../src/native.js';
import { eventually } from '../../harness/eventually.js';
import { Supervisor } from '../../harness/supervisor.js';
import { expectNoDescriptorsLeft } from './descriptors.js';
import { scratch, start } from './targets.js';

const MESSAGE = "READY=1\nMAINPID=77\nSTATUS=serving 'ü'";

describe('a notification', () => {
  expectNoDescriptorsLeft();

  it('reaches a socket by path', async () => {
    const supervisor = new Supervisor(join(scratch(), 'notify'));
    notify(supervisor.path, MESSAGE);
    await supervisor.hears("STATUS=serving 'ü'");
    expect(supervisor.messages).toEqual([MESSAGE]);
    supervisor.close();
  });

  it('reaches an abstract socket', async () => {
    const name = `holdfast-test-${process.pid}`;
    const ready = join(scratch(), 'ready');
    const script = `import socket,sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind("\\0${name}"); open("${ready}", "w"); sys.stdout.buffer.write(s.recv(999))`;
    const receiver = start(['python3', '-c', script], { path: process.env['PATH'] });
    await eventually(() => expect(existsSync(ready)).toBe(true));
    notify(`@${name}`, MESSAGE);
    expect(Buffer.from((await receiver.ended()).output, 'latin1').toString()).toBe(MESSAGE);
  });

  it('reaches our own socket, which is its owner’s alone', () => {
    const path = join(scratch(), 'notify');
    const socket = bindDatagram(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(receiveDatagram(socket)).toBeUndefined();
    notify(path, 'A=1');
    notify(path, '');
    notify(path, 'x'.repeat(60_000));
    expect(receiveDatagram(socket)?.toString()).toBe('A=1');
    expect(receiveDatagram(socket)?.toString()).toBe('');
    expect(receiveDatagram(socket)?.length).toBe(60_000);
    expect(receiveDatagram(socket)).toBeUndefined();
    closeFd(socket);
  });

  it('to nobody is an error', () => {
    const path = join(scratch(), 'notify');
    expect(() => notify(path, 'x')).toThrow('ENOENT');
    closeFd(bindDatagram(path));
    expect(() => notify(path, 'x')).toThrow('ECONNREFUSED');
    expect(() => notify(`@holdfast-nobody-${process.pid}`, 'x')).toThrow(NativeError);
    expect(() => notify(`/${'n'.repeat(200)}`, 'x')).toThrow('ENAMETOOLONG');
  });
});
