#compdef errand
# zsh completion for errand. errand itself says what may stand where the cursor is; it never starts a server for that.
_errand() {
  local -a lines typed candidates shown
  local line directive
  typed=("${(@Q)words[2,CURRENT]}")
  lines=("${(@f)$(errand __complete -- "${(@)typed}" 2>/dev/null)}")
  directive=${lines[1]}
  for line in "${(@)lines[2,-1]}"; do
    candidates+=("${line%%$'\t'*}")
    if [[ $line == *$'\t'?* ]]; then
      shown+=("${line%%$'\t'*}  -- ${line#*$'\t'}")
    else
      shown+=("${line%%$'\t'*}")
    fi
  done
  ((${#candidates})) && compadd -V errand -l -d shown -a candidates
  case $directive in
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
    commands) _command_names -e ;;
  esac
}
# Both ways: found in fpath, or read with: source <(errand completion zsh)
if [[ ${funcstack[1]} == _errand ]]; then
  _errand "$@"
else
  compdef _errand errand
fi
