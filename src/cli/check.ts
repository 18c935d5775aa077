// One thing that `holdfast doctor` looked at.

export interface Check {
  readonly name: string;
  /** `warn`: works, but less well or only for some; `fail`: Holdfast does not work. */
  readonly state: 'ok' | 'warn' | 'fail';
  /** What was found: one line. */
  readonly detail: string;
  /** What to do about it; only when something is to be done. */
  readonly cure?: string;
}

export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
