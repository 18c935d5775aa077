// Shell completion, written out from the commands themselves. Static: only a session's name asks `holdfast list`, when Tab is pressed.

import type { Command } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface CommandWords {
  readonly name: string;
  readonly about: string;
  /** `wait`, `logs` … of `job`. */
  readonly actions: readonly string[];
  readonly options: readonly { readonly flag: string; readonly about: string; readonly takesValue: boolean }[];
}

export function completionScript(shell: Shell, program: Command): string {
  const commands = program.commands.map((command) => wordsOf(command));
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      // zsh runs bash's completion functions; one script less that can be wrong.
      return `#compdef holdfast\nautoload -Uz bashcompinit && bashcompinit\n${bashScript(commands)}`;
    case 'fish':
      return fishScript(commands);
  }
}

function wordsOf(command: Command): CommandWords {
  const options = command.options
    .filter((option) => !option.hidden && option.long !== undefined)
    .map((option) => ({ flag: option.long ?? '', about: option.description, takesValue: option.required }));
  return { name: command.name(), about: command.description(), actions: command.commands.map((action) => action.name()), options };
}

function bashScript(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, options, actions }) => {
    const words = `words='${['--help', ...options.map((option) => option.flag)].join(' ')}'`;
    return `    ${name}) ${words}${actions.length === 0 ? '' : ` actions='${actions.join(' ')}'`} ;;`;
  });
  return `_holdfast() {
  local word=\${COMP_WORDS[COMP_CWORD]} words actions=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} help --help --version' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) return ;;
  esac
  if [[ -n $actions ]] && ((COMP_CWORD == 2)); then
    COMPREPLY=($(compgen -W "$words $actions" -- "$word"))
    return
  fi
  case $word in
    -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
    *) local IFS=$'\\n'; COMPREPLY=($(compgen -W "$(holdfast list --names 2>/dev/null)" -- "$word")) ;;
  esac
}
complete -o default -F _holdfast holdfast
`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const lines = commands.flatMap(({ name, about, options, actions }) => [
    `complete -c holdfast -n __fish_use_subcommand -a ${name} -d ${fishWord(about)}`,
    ...(actions.length === 0 ? [] : [`complete -c holdfast -n '__fish_seen_subcommand_from ${name}' -a '${actions.join(' ')}'`]),
    ...options.map(({ flag, about: what, takesValue }) => {
      const value = takesValue ? ' -r' : '';
      return `complete -c holdfast -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}${value} -d ${fishWord(what)}`;
    }),
  ]);
  return `complete -c holdfast -f
${lines.join('\n')}
complete -c holdfast -n '__fish_seen_subcommand_from ${names}' -a '(holdfast list --names 2>/dev/null)'
`;
}

function fishWord(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
