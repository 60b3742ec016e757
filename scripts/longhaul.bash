# bash completion of longhaul: its commands, the options that `longhaul COMMAND --help` names, and files.
_longhaul() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  if ((COMP_CWORD == 1)); then
    words="run check report claims validate fit verify emulate compare plot plan measured new list help --help --version"
  elif [[ $word == -* ]]; then
    words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)
  elif [[ ${COMP_WORDS[1]} == list && COMP_CWORD -eq 2 ]]; then
    words="methods collectives networks models options scenarios schema"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _longhaul longhaul
