
# Bash ends a word at a colon and an equals sign, which names of files may have: the rest of such a name follows.
_nqueens_or_rest_of_name() {
    local name=${COMP_LINE:0:COMP_POINT}
    name=${name##*[[:space:]]}
    name=${name#--*=}
    # Where something is quoted, a word may have more in front.
    if [[ $name == -* || $name != *[:=]* || $COMP_LINE == *[\\\"\']* ]]; then
        _nqueens "$@"
        return
    fi
    local IFS=$'\n'
    COMPREPLY=($(compgen -f -- "$name"))
    COMPREPLY=("${COMPREPLY[@]#"${name%"${name##*[:=]}"}"}")
    compopt -o filenames 2>/dev/null
}
complete -F _nqueens_or_rest_of_name -o nosort -o bashdefault -o default nqueens 2>/dev/null ||
    complete -F _nqueens_or_rest_of_name -o bashdefault -o default nqueens
