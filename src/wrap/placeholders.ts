// {name}, {id} and {pid} in the words of a wrap session that holds a container: they are known once it has been started. Pure.

/** What is known of a held container. */
export interface HeldFacts {
  /** Made up for this one opening; a start command may give it to what it makes. */
  readonly name: string;
  /** The last line that the start command printed. */
  readonly id?: string;
  /** A process in it, as a process of this machine. */
  readonly pid?: string;
}

const PLACEHOLDER = /\{(name|id|pid)\}/g;

export function hasPlaceholder(words: readonly string[], name: keyof HeldFacts): boolean {
  return words.some((word) => word.includes(`{${name}}`));
}

/** A placeholder whose value is not known stays as it is. */
export function fillPlaceholders(words: readonly string[], facts: HeldFacts): string[] {
  const values: Record<string, string | undefined> = { name: facts.name, id: facts.id, pid: facts.pid };
  return words.map((word) => word.replace(PLACEHOLDER, (whole, name: string) => values[name] ?? whole));
}
