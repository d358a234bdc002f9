/** Completion for bash: tables of the commands, and a function that finds where in them one is. */

import { type CommandFacts, shellTables, shellWords } from './command-tree.ts';

/** The script, to be sourced or put where bash-completion looks for it. */
export function bashCompletion(tree: readonly CommandFacts[]): string {
  const rows = tree.map(({ path, options, children }) => {
    const subs = shellWords(children.map(({ name }) => name));
    const names = shellWords(options.flatMap((option) => option.names));
    return `    '${path.join(' ')}') subs=${subs} opts=${names} ;;`;
  });
  return `# bash completion for gatepost; made by 'gatepost completion bash'.

${shellTables(tree, rows)}

${WALK}
complete -F _gatepost gatepost
`;
}

/** Commands may be followed by options with values; bash gives \`--a=b\` as three words. */
const WALK = `_gatepost() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at= count=0 after= kind= subs= opts= i word next
  COMPREPLY=()
  _gatepost_command ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    after=
    case $word in
      -*)
        _gatepost_kind "$at:$word"
        [[ -n $kind ]] || continue
        [[ \${COMP_WORDS[i + 1]} == = && i+1 -lt COMP_CWORD ]] && ((i++))
        after=$word
        ((i++))
        ;;
      *)
        next="\${at:+$at }$word"
        if [[ $count == 0 && -n $subs ]] && _gatepost_command "$next"; then
          at=$next
        else
          ((count++))
        fi
        ;;
    esac
  done
  # The loop went past the cursor only if the word before it waits for its value.
  ((i > COMP_CWORD)) || after=
  [[ $cur == = ]] && cur=
  _gatepost_kind "$at:\${after:-$((count + 1))}"
  if [[ -z $after && $cur == -* ]]; then
    kind="words $opts"
  elif [[ -z $after && -n $subs ]]; then
    kind="words $subs"
  fi
  case $kind in
    words\\ *) mapfile -t COMPREPLY < <(compgen -W "\${kind#words }" -- "$cur") ;;
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    directory) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
  esac
  case $kind in file | directory) compopt -o filenames 2>/dev/null ;; esac
}`;
