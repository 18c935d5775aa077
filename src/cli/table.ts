// Columns of text for people. Programs are given --json.

import { stripVTControlCharacters } from 'node:util';

/** Rows under a heading, each column as wide as its widest cell; the last column is never padded. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => (column === row.length - 1 ? cell : padTo(cell, widths[column] ?? 0))).join('  ');
  return `${all.map((row) => line(row).trimEnd()).join('\n')}\n`;
}

/** What it takes on the screen: colours take nothing. */
function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Bytes as a person would say them. */
export function formatBytes(bytes: number): string {
  const mega = bytes / 1024 / 1024;
  if (mega < 10) return `${mega.toFixed(1)} MB`;
  return mega < 1024 ? `${Math.round(mega)} MB` : `${(mega / 1024).toFixed(1)} GB`;
}

/** `name: value` lines, the values under each other. */
export function formatFacts(facts: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...facts.map(([name]) => widthOf(name)));
  return facts.map(([name, value]) => `${padTo(name === '' ? '' : `${name}:`, width + 1)} ${value}\n`).join('');
}

/** A span of time as a person would say it: two units at most. */
export function formatSpan(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** One word of a command as it could be typed. */
export function shellWord(word: string): string {
  if (word !== '' && /^[A-Za-z0-9@%+=:,./_^-]+$/.test(word)) return word;
  if (/[\x00-\x1f\x7f]/.test(word)) {
    const escaped = JSON.stringify(word).slice(1, -1).replaceAll("'", "\\'").replaceAll('\\"', '"');
    return `$'${escaped}'`;
  }
  return `'${word.replaceAll("'", "'\\''")}'`;
}
