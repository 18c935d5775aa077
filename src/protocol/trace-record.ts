// What the trace of a session says of one command: kept by the agent, shown by `holdfast trace`. Pure.

import type { Ending } from './outcome.js';

/** How it ended. */
export type TraceEnding =
  | Ending
  | { readonly kind: 'cancelled'; readonly by: string; readonly ending: Ending }
  | { readonly kind: 'notStarted'; readonly step: string; readonly errno: number }
  | { readonly kind: 'refused'; readonly code: string };

/** Times in microseconds; of a command that has not got so far, those that are known. */
export interface TraceRecord {
  /** Since the epoch. */
  readonly acceptedUs: number;
  readonly queuedUs: number;
  readonly spawnUs: number;
  readonly runUs: number;
  readonly userUs: number;
  readonly systemUs: number;
  /** Memory. Of all its processes together where a report was asked for and containment can count, else of the largest one. */
  readonly peakBytes: number;
  /** The peak is no more than that: the kernel carries the agent's own over to a target, so less cannot be seen. */
  readonly isPeakBound: boolean;
  readonly pid: number;
  /** A NUL between words. Cut, and ends with '…', when it is long. */
  readonly command: string;
  readonly job: string;
  /** `undefined`: it waits, or runs. */
  readonly ending?: TraceEnding | undefined;
}
