/** Completion for fish: one line for each thing that may follow a command. */

import { byPlace, type CommandFacts, type OptionFacts, type Value } from './command-tree.ts';

/** The script, to be put into a folder of `fish_complete_path` as `gatepost.fish`, or sourced. */
export function fishCompletion(tree: readonly CommandFacts[]): string {
  const commands = tree.filter(({ path }) => path.length > 0).map(({ path }) => path.join(' '));
  const valued = byPlace(tree)
    .flatMap(({ places }) => places)
    .filter((place) => place.includes(':-'));
  return `# fish completion for gatepost; made by 'gatepost completion fish'.

set -g __gatepost_commands ${commands.map(fishText).join(' ')}
set -g __gatepost_valued ${valued.map(fishText).join(' ')}

${WALK}
complete -c gatepost -f
${tree.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, args, options, children }: CommandFacts): string[] {
  const at = path.join(' ');
  const line = (rest: string, about: string, condition = `__gatepost_at ${fishText(at)}`) =>
    `complete -c gatepost -n ${fishText(condition)} ${rest}${about && ` -d ${fishText(about)}`}`;
  return [
    ...children.map(({ name, about }) => line(`-a ${fishText(name)}`, about)),
    ...args.flatMap((value, index) => {
      const what = candidates(value);
      const condition = `__gatepost_at ${fishText(at)} ${index + 1}`;
      return what === '' ? [] : [line(what, '', condition)];
    }),
    ...options.map((option) => line(optionWords(option), option.about)),
  ];
}

function optionWords({ names, value }: OptionFacts): string {
  const spelled = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  if (value === null) return spelled.join(' ');
  // -x: nothing else, so no files where none may stand.
  const kind = value === 'file' ? '-r' : '-x';
  return `${spelled.join(' ')} ${kind} ${candidates(value)}`.trimEnd();
}

function candidates(value: Value): string {
  if (value === 'text') return '';
  if (value === 'file') return '-F';
  if (value === 'directory') return "-a '(__fish_complete_directories)'";
  return `-a ${fishText(value.words.join(' '))}`;
}

/** A text in single quotes, in which fish knows two escapes. */
function fishText(text: string): string {
  const escaped = text.replace(/[\\']/g, '\\$&');
  return `'${escaped}'`;
}

const WALK = `# Is the cursor behind this command? With a second word: at its argument
# of that number?
function __gatepost_at
    set -l at
    set -l count 1
    set -l is_value 0
    set -l words (commandline -opc)
    set -e words[1]
    for word in $words
        if test $is_value = 1
            set is_value 0
            continue
        end
        switch $word
            case '--*=*'
            case '-*'
                if contains -- "$at:$word" $__gatepost_valued
                    set is_value 1
                end
            case '*'
                set -l next (string trim -- "$at $word")
                if test $count = 1; and contains -- "$next" $__gatepost_commands
                    set at $next
                else
                    set count (math $count + 1)
                end
        end
    end
    test "$at" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; or test $count = $argv[2]
end
`;
