// The working directory of a request, in the forms that are asked for. Most requests come from the same one, which is made once.

export interface Directory {
  /** latin1, one character a byte; empty: it has no name. */
  readonly text: string;
  /** As execve(2) and chdir(2) want it: with a final NUL. */
  readonly path: Buffer;
  readonly isInsideProcess: boolean;
}

let last: { readonly bytes: Buffer; readonly directory: Directory } | undefined;

/** Costs nothing for the bytes of the last call, which the codec hands out again while they are the same. */
export function directoryOf(bytes: Buffer): Directory {
  if (last?.bytes === bytes) return last.directory;
  const text = bytes.toString('latin1');
  const directory = { text, path: Buffer.from(`${text}\0`, 'latin1'), isInsideProcess: isInsideProcess(text) };
  last = { bytes, directory };
  return directory;
}

/**
 * A directory that would be looked up in the agent's own process: it could name a descriptor of the agent, or of another
 * request. (The native part changes directory only after it has closed them, so a symbolic link there leads nowhere.)
 */
function isInsideProcess(cwd: string): boolean {
  if (!cwd.includes('/proc/') && !cwd.includes('/dev/')) return false;
  const normal = cwd.replace(/\/+(\.\/+)*/g, '/');
  return /^\/proc\/(self|thread-self|\d+)(\/|$)/.test(normal) || /^\/dev\/fd(\/|$)/.test(normal);
}
