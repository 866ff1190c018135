# fish completion for errand. errand itself says what may stand where the cursor is; it never starts a server for that.
function __errand_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -e words[1]
    set -l lines (errand __complete -- $words "$cur" 2>/dev/null)
    if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
    end
    switch "$lines[1]"
        case files
            __fish_complete_path "$cur"
        case folders
            __fish_complete_directories "$cur" ''
        case commands
            complete -C "$cur"
            __fish_complete_path "$cur"
    end
end
complete -c errand -f -k -a '(__errand_complete)'
