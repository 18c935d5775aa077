// Waiting for a state. Never for a duration: a test that needs time to pass is a test of the machine.

const POLL_MS = 10;

/**
 * Calls `check` until it no longer throws and hands back what it returned. At the deadline it fails with what `check` said last,
 * so the report is what was seen, not that time ran out.
 */
export async function eventually<T>(check: () => T | Promise<T>, withinMs = 10_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (cause) {
      if (performance.now() > deadline) {
        const last = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`after ${withinMs} ms still: ${last}`, { cause });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
