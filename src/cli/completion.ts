/** `bursar completion`: a script that completes commands and options in bash, zsh and fish. It is made from the commands. @module */
import type { Command as Program } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

type Node = { readonly path: string; readonly words: readonly string[] };

export function completionFor(shell: Shell, program: Program): string {
  const nodes = nodesOf(program, []);
  if (shell === 'fish') return fish(nodes);
  const script = bash(nodes);
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

const nodesOf = (command: Program, above: readonly string[]): Node[] => {
  const help = command.createHelp();
  const commands = help.visibleCommands(command).filter((one) => one.name() !== 'help');
  const options = help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  return [
    { path: above.join(' '), words: [...commands.map((one) => one.name()), ...options] },
    ...commands.flatMap((one) => nodesOf(one, [...above, one.name()])),
  ];
};

const bash = (nodes: readonly Node[]): string =>
  `_bursar() {
  local path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  local words
  case "$path" in
${nodes.map(({ path, words }) => `    ${JSON.stringify(path)}) words=${JSON.stringify(words.join(' '))} ;;`).join('\n')}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _bursar bursar
`;

const fish = (nodes: readonly Node[]): string =>
  `function __bursar_path
  string join " " (string match -v -- "-*" (commandline -opc)[2..])
end
${nodes
  .map(({ path, words }) => `complete -c bursar -f -n 'test (__bursar_path) = "${path}"' -a '${words.join(' ')}'`)
  .join('\n')}
`;
