// What the soak says, and whether it has failed.

export class Report {
  readonly failures: string[] = [];

  say(line: string): void {
    console.log(line);
  }

  fail(line: string): void {
    this.failures.push(line);
    console.log(`FAILED: ${line}`);
  }

  /** A figure against its bar, which is an upper one. */
  judge(what: string, seen: number, limit: number): void {
    const line = `${what}: ${seen.toFixed(2)} (at most ${limit})`;
    if (seen <= limit) this.say(`  ${line}`);
    else this.fail(line);
  }
}
