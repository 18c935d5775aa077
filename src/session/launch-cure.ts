// What to do about what the tools that enter environments complain of. Read off their own words: where none is known, the words stand alone.

interface Complaint {
  readonly said: RegExp;
  /** A whole clause; `$1` is what the words named. */
  readonly cure: string;
}

const COMPLAINTS: readonly Complaint[] = [
  { said: /^direnv: error (.+)\/\.envrc is blocked/m, cure: "once you have read that file: 'direnv allow $1'" },
  { said: /\bin (\S+) (?:is|are) not trusted\b/, cure: "once you have read that file: 'mise trust $1'" },
  { said: /\bmise\b.*\bnot trusted\b/, cure: "once you have read its configuration: 'mise trust'" },
  { said: /Path '([^']+)' in the repository \S+ is not tracked by Git/, cure: "nix sees only what git knows: 'git add $1'" },
  { said: /cannot connect to socket at '([^']*daemon-socket[^']*)'/, cure: 'start nix-daemon, or ask who administers this machine' },
  {
    said: /EnvironmentNameNotFound|EnvironmentLocationNotFound|Cannot activate, prefix does not exist|Could not find conda environment/,
    cure: "make the environment first: 'conda env create --file environment.yml'",
  },
  {
    said: /: Argument list too long/,
    cure: 'a variable is over 128 KiB, or all of them are too much for the kernel: unset what is not needed',
  },
  { said: /: line \d+: syntax error near unexpected token `\$'[^']*\\r/, cure: 'its lines end in CR LF: save it with LF alone' },
  { said: /: line \d+: (?:syntax error|unexpected EOF)/, cure: 'correct the script: bash cannot read it to its end' },
  { said: /: line \d+: ([\w.+-]+): command not found/, cure: "install '$1', or put it on the PATH" },
];

/** The first cure for what the launcher said; `undefined`: none is known. @param output its last lines. */
export function findCure(output: readonly string[]): string | undefined {
  const text = output.join('\n');
  for (const { said, cure } of COMPLAINTS) {
    const found = said.exec(text);
    if (found !== null) return cure.replace('$1', found[1] ?? '');
  }
  return undefined;
}
