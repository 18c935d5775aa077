// Packages of the tests that bring no types; only what the harness uses of them.

declare module 'unix-dgram' {
  interface DatagramSocket {
    bind(path: string): void;
    close(): void;
  }
  export function createSocket(type: 'unix_dgram', onMessage: (bytes: Buffer) => void): DatagramSocket;
}

declare module 'usocket' {
  import type { Duplex } from 'node:stream';

  export class USocket extends Duplex {
    constructor(options: { path: string }, connected?: () => void);
    readonly fds: number[];
    write(message: { data: Buffer; fds?: number[]; callback?: (error?: Error) => void }): boolean;
    on(event: 'fds', listener: (fds: number[]) => void): this;
    on(event: string, listener: (...args: never[]) => void): this;
  }
}
