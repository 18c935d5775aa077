// An answer to a peer that is not an answer to its question. docs/protocol.md §5, REFUSED.

import type { RefusalCode } from '../protocol/numbers.js';

export class Refused extends Error {
  readonly code: RefusalCode;
  readonly hint: string;
  constructor(code: RefusalCode, message: string, hint = '') {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
