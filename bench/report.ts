// Results for people: the table on the terminal, and docs/performance.md.

import { describeMachine, type Machine } from './machine.js';
import { isMet, type Result } from './result.js';

export function printed(result: Result): string {
  const name = Math.max(...result.rows.map((row) => row.name.length), 4);
  const head = `${'what'.padEnd(name)} ${['n', 'min', 'median', 'p95', 'max', 'ratio'].map((each) => each.padStart(9)).join('')}`;
  const rows = result.rows.map(({ name: what, spread, ratio }) => {
    const numbers = [String(spread.count), ...[spread.min, spread.median, spread.p95, spread.max].map(shown), `${ratio.toFixed(2)}x`];
    return `${what.padEnd(name)} ${numbers.map((each) => each.padStart(9)).join('')}`;
  });
  return [`\n${result.question} (${result.unit})`, head, ...rows, ...barLines(result), ...result.notes].join('\n');
}

export function document(machine: Machine, results: readonly Result[]): string {
  const sections = results.map((result) => {
    const rows = result.rows.map(({ name, spread, ratio }) => {
      const numbers = [spread.count, ...[spread.min, spread.median, spread.p95, spread.max].map(shown), `${ratio.toFixed(2)}×`];
      return `| ${name} | ${numbers.join(' | ')} |`;
    });
    const notes = [...barLines(result), ...result.notes].map((line) => `- ${line}`);
    const head = `| what (${result.unit}) | n | min | median | p95 | max | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |`;
    return `## ${result.question}\n\n${head}\n${rows.join('\n')}\n\n${notes.join('\n')}\n`;
  });
  return `# Performance

Written by \`npm run bench -- --write-doc\`; do not edit. Each table is one run in which the programs took turns, in an order
shuffled each round, so the ratio (median against the first row's median) can be compared where the times cannot.

Measured ${describeMachine(machine)}.

${sections.join('\n')}`;
}

function barLines(result: Result): string[] {
  return result.bars.map((bar) => {
    const wanted = `${bar.side === 'below' ? 'at most' : 'at least'} ${Number(bar.limit.toFixed(2))}`;
    return `${bar.what}: ${bar.seen.toFixed(2)} (${wanted}: ${isMet(bar) ? 'met' : 'MISSED'})`;
  });
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
