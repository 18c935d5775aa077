// What an errno means, in the words of the C library, so that both clients say the same. Node has its own texts, which differ. Needs no
// addon: what says that there is none needs this.

import { constants } from 'node:os';

/** The ones that a start of a program, a file or a socket can meet; names for the rest. */
const TEXTS: Readonly<Record<string, string>> = {
  E2BIG: 'Argument list too long',
  EACCES: 'Permission denied',
  EAGAIN: 'Resource temporarily unavailable',
  EBADF: 'Bad file descriptor',
  EBUSY: 'Resource busy',
  EDQUOT: 'Quota exceeded',
  EEXIST: 'File exists',
  EFAULT: 'Bad address',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EIO: 'I/O error',
  EISDIR: 'Is a directory',
  ELOOP: 'Symbolic link loop',
  EMFILE: 'No file descriptors available',
  ENAMETOOLONG: 'Filename too long',
  ENFILE: 'Too many open files in system',
  ENODEV: 'No such device',
  ENOENT: 'No such file or directory',
  ENOEXEC: 'Exec format error',
  ENOMEM: 'Out of memory',
  ENOSPC: 'No space left on device',
  ENOSYS: 'Function not implemented',
  ENOTDIR: 'Not a directory',
  ENOTTY: 'Not a tty',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EPIPE: 'Broken pipe',
  EROFS: 'Read-only file system',
  ESRCH: 'No such process',
  ETXTBSY: 'Text file busy',
};

const NAME_OF: ReadonlyMap<number, string> = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]));

/** `EACCES` for 13; the number itself for one without a name. */
export function errnoName(errno: number): string {
  // Two names of one number: the usual one.
  return errno === constants.errno.EAGAIN ? 'EAGAIN' : (NAME_OF.get(errno) ?? `errno ${errno}`);
}

export function errnoText(errno: number): string {
  const name = errnoName(errno);
  return TEXTS[name] ?? name;
}

/** The same for an error that Node or the addon threw. */
export function systemErrorText(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return TEXTS[error.code] ?? error.code;
  return error instanceof Error ? error.message : String(error);
}
