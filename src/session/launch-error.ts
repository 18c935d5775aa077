// An environment that could not be entered. The message is one line; what the launcher said is beside it, for those who have room.

import { HoldfastError } from '../errors.js';

export class LaunchError extends HoldfastError {
  /** The end of the launcher's output, as a person would see it; empty when it said nothing. */
  readonly output: readonly string[];

  constructor(code: 'LAUNCH_FAILED' | 'LAUNCH_INTERRUPTED' | 'LAUNCH_TIMEOUT', message: string, output: readonly string[], hint: string) {
    super(code, message, { hint });
    this.output = output;
  }
}
