# bash completion for errand. errand itself says what may stand where the cursor is; it never starts a server for that.
_errand() {
  local -a words=() found=()
  local i word glue='' cur last strip directive candidate rest value
  COMPREPLY=()
  # bash splits words at = and :, which errand does not.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == [=:] && i -gt 1 ]]; then
      words[${#words[@]} - 1]+=$word
      glue=1
    elif [[ -n $glue ]]; then
      words[${#words[@]} - 1]+=$word
      glue=''
    else
      words+=("$word")
    fi
  done
  cur=${words[${#words[@]} - 1]} last=${COMP_WORDS[COMP_CWORD]}
  # What bash takes for earlier words must not be in an answer.
  strip=${cur%"$last"}
  [[ $last == [=:] ]] && strip=$cur
  {
    IFS= read -r directive
    while IFS=$'\t' read -r candidate rest; do
      # Quoted, as a name may be anything.
      printf -v value %q "${candidate#"$strip"}"
      COMPREPLY+=("$value")
    done
  } < <(errand __complete -- "${words[@]}" 2>/dev/null)
  value=${cur#"$strip"}
  case $directive in
    files) mapfile -t found < <(compgen -f -- "$value") ;;
    folders) mapfile -t found < <(compgen -d -- "$value") ;;
    commands) mapfile -t found < <(compgen -c -- "$value") ;;
  esac
  if ((${#found[@]} > 0)); then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${found[@]}")
  fi
}
complete -F _errand errand
