# What zsh offers for a line: zsh -f complete.zsh SCRIPT LINE, one word a line.
# Completion works only on a terminal. So a second shell runs on one of its own,
# begins with the line, completes it, and keeps what it would show. The folder of
# SCRIPT holds what that shell needs.
export ZDOTDIR=${1:a:h} SCRIPT=${1:a} LINE=$2 TERM=dumb
: > $SCRIPT.words
cat > $ZDOTDIR/.zshrc <<'RC'
autoload -Uz compinit
compinit -D -u
source $SCRIPT
compadd() {
  [[ ${@[1,(i)(-|--)]} == *-[OAD]\ * ]] && { builtin compadd "$@"; return }
  local -a words
  builtin compadd -O words "$@"
  (( $#words )) && print -rl -- $IPREFIX$^words >> $SCRIPT.words
  builtin compadd "$@"
}
zle-line-init() { BUFFER=$LINE; CURSOR=$#BUFFER; zle complete-word; exit }
zle -N zle-line-init
RC
zmodload zsh/zpty
zpty typed zsh -d -i
while zpty -r typed; do :; done > /dev/null
cat $SCRIPT.words
