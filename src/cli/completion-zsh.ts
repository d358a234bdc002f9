/** Completion for zsh, with a description beside each command and option. */

import { type CommandFacts, shellTables, shellText } from './command-tree.ts';

/** The script, to be put into a folder of `fpath` as `_gatepost`, or evaluated. */
export function zshCompletion(tree: readonly CommandFacts[]): string {
  const rows = tree.map(({ path, options, children }) => {
    const subs = children.map(({ name, about }) => described(name, about));
    const opts = options.flatMap(({ names, about }) => names.map((name) => described(name, about)));
    return `    '${path.join(' ')}')
      subs=(${subs.join(' ')})
      opts=(${opts.join(' ')}) ;;`;
  });
  return `#compdef gatepost
# zsh completion for gatepost; made by 'gatepost completion zsh'.

${shellTables(tree, rows)}

${WALK}
if [[ $funcstack[1] == _gatepost ]]; then
  _gatepost "$@"
else
  compdef _gatepost gatepost
fi
`;
}

/** A row for `_describe`, which ends the word at a colon. */
function described(word: string, about: string): string {
  return shellText(`${word.replaceAll(':', '\\:')}:${about}`);
}

const WALK = `_gatepost() {
  local at= after= kind= word next
  local -i i count=0
  local -a subs opts
  _gatepost_command ''
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    after=
    case $word in
      --*=*) ;;
      -*)
        _gatepost_kind "$at:$word"
        [[ -n $kind ]] || continue
        after=$word
        ((i++))
        ;;
      *)
        next="\${at:+$at }$word"
        if ((count == 0 && $#subs)) && _gatepost_command "$next"; then
          at=$next
        else
          ((count++))
        fi
        ;;
    esac
  done
  # The loop went past the cursor only if the word before it waits for its value.
  ((i > CURRENT)) || after=
  if [[ -z $after && $PREFIX == --*=* ]]; then
    after=\${PREFIX%%=*}
    compset -P '*='
  fi
  _gatepost_kind "$at:\${after:-$((count + 1))}"
  if [[ -z $after && $PREFIX == -* ]]; then
    _describe -o option opts
  elif [[ -z $after && $#subs -gt 0 ]]; then
    _describe command subs
  else
    case $kind in
      words\\ *) compadd -- \${=kind#words } ;;
      file) _files ;;
      directory) _files -/ ;;
      *) _message value ;;
    esac
  fi
}
`;
