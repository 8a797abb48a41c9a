/** The scripts that make a shell ask `patchbay complete-words` when Tab is pressed. */
export const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# patchbay completion bash: eval "$(patchbay completion bash)" in ~/.bashrc
_patchbay () {
  local line=\${COMP_LINE:0:COMP_POINT} word=\${COMP_WORDS[COMP_CWORD]} cut= at candidate
  word=\${line##*[[:space:]]}
  # Bash replaces what follows the last of the characters at which it breaks words.
  for ((at = 0; at < \${#word}; at++)); do
    [[ $COMP_WORDBREAKS == *"\${word:at:1}"* ]] && cut=\${word:0:at+1}
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    [[ -n $candidate ]] && COMPREPLY+=("\${candidate#"$cut"}")
  done < <(command "\${COMP_WORDS[0]}" complete-words bash "$line" 2>/dev/null </dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o bashdefault -o default -F _patchbay patchbay
`,
  zsh: `#compdef patchbay
# patchbay completion zsh: source <(patchbay completion zsh) in ~/.zshrc, after compinit
_patchbay () {
  local -a found closed open
  local line
  found=("\${(@f)$(command patchbay complete-words zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  for line in $found; do
    line=\${line%%$'\\t'*}
    if [[ $line == *= ]]; then open+=("$line"); else closed+=("$line"); fi
  done
  (( $#closed )) && compadd -- $closed
  (( $#open )) && compadd -S '' -- $open
  (( $#closed + $#open )) || _files
}
if [[ $funcstack[1] == _patchbay ]]; then _patchbay "$@"; else compdef _patchbay patchbay; fi
`,
  fish: `# patchbay completion fish: patchbay completion fish > ~/.config/fish/completions/patchbay.fish
function __patchbay_words
  set -l words (commandline -opc)
  set -e words[1]
  command patchbay complete-words fish $words (commandline -ct) 2>/dev/null </dev/null
end
complete -c patchbay -f -a '(__patchbay_words)'
complete -c patchbay -l out -r -F
complete -c patchbay -l key -r -F
complete -c patchbay -l config -r -F
`
}
