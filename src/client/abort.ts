// One listener on an AbortSignal, however many commands it is to end: from the eleventh on, Node warns of a leak.

interface Shared {
  readonly listeners: Set<() => void>;
  readonly onAbort: () => void;
}

const shared = new WeakMap<AbortSignal, Shared>();

/** `listener` is to be called when `signal` aborts; never for one that has aborted already. @returns takes it out again; safe to call twice. */
export function listenForAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, onAbort } = shared.get(signal) ?? share(signal);
  listeners.add(listener);
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    signal.removeEventListener('abort', onAbort);
    shared.delete(signal);
  };
}

function share(signal: AbortSignal): Shared {
  const listeners = new Set<() => void>();
  const onAbort = (): void => {
    for (const listener of [...listeners]) listener();
  };
  signal.addEventListener('abort', onAbort);
  const made = { listeners, onAbort };
  shared.set(signal, made);
  return made;
}
