# Completes the long options of a schedq tool, as its --help lists them, and file names. bash-completion finds this file under the
# tool's own name.
_schedq_tool()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$1" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word")
    fi
}
complete -o default -F _schedq_tool schedq-replay schedq-trace schedq-bench schedq-conform schedq-top
