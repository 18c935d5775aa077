// What caller.py tells, line by line.

export type Fact = string | number | boolean | null | readonly Fact[] | { readonly [key: string]: Fact };
export type Facts = Readonly<Record<string, Fact>>;

export interface Observation {
  column: string;
  scene: string;
  /** Patterns of the facts that the scene is about. */
  focus: readonly string[];
  facts: Facts;
}

export interface AbsentColumn {
  column: string;
  absent: string;
}

export function parseLine(line: string): Observation | AbsentColumn {
  return JSON.parse(line);
}
