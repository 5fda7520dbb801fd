# Print what zsh would offer at the end of the line $2, one a line, with the completion script $1 sourced.
# A second zsh completes on a terminal of its own; its compadd prints the matches that it is given.
zmodload zsh/zpty
setopt rcquotes
zpty shell zsh -f -i
() {
    zpty -w shell "source ${(q)1} ${(q)2}"
    repeat 20; do
        zpty -r shell line
        [[ $line == ready* ]] && return
    done
    print -u2 'the second zsh did not begin'
    exit 2
} =( <<< '
PROMPT=
autoload -Uz compinit
compinit -u -D
source $1
bindkey ''^M'' undefined
bindkey ''^J'' undefined
bindkey ''^I'' complete-word
mark() { print -r -- "==mark==" }
compprefuncs=(mark)
comppostfuncs=(mark exit)
zstyle '':completion:*'' insert-tab false
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return $?
    fi
    typeset -a hits
    builtin compadd -A hits "$@"
    for hit in $hits; do print -r -- "$hit"; done
    builtin compadd "$@"
}
print ready') $1
zpty -w shell "$2"$'\t'
integer marks=0
while zpty -r shell; do :; done | while IFS= read -r line; do
    line=${line%$'\r'}
    if [[ $line == *==mark==* ]]; then
        (( marks++ )) && exit 0
        continue
    fi
    (( marks )) && print -r -- $line
done
exit 2
