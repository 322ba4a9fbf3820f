# shellcheck shell=bash
# bash completion for assay, which says itself what may stand where.
_assay() {
    local line word words cut
    # Bash cuts words at : and = too; assay wants them as they were typed.
    line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[${#words[@]} - 1]}
    cut=${word%"${word##*[:=]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$cut"}")
        else
            printf -v line %q "${line#"$cut"}"
            COMPREPLY+=("$line")
        fi
    done < <("${words[0]/#\~/$HOME}" complete "${words[@]}" 2>/dev/null)
}
complete -F _assay assay
