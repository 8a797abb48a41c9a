import { didYouMean } from '../../lib/nearest-name.js'
import { SCRIPTS } from '../ask/completion-scripts.js'
import type { Command } from './command.js'

/** `patchbay completion`. */
export const command: Command = {
  help: `Usage: patchbay completion bash|zsh|fish

Prints a script with which the shell completes commands, flags, and the tools
and arguments of the gateway of this machine or of --url:
  bash  eval "$(patchbay completion bash)" in ~/.bashrc
  zsh   source <(patchbay completion zsh) in ~/.zshrc, after compinit
  fish  patchbay completion fish > ~/.config/fish/completions/patchbay.fish

For example: patchbay completion bash
`,
  run: ([shell, ...more]) => {
    const names = Object.keys(SCRIPTS)
    if (shell === undefined || more.length > 0) throw new Error(`patchbay completion is followed by ${names.join(', ')}`)
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined) {
      throw new Error(`there is no completion for "${shell}"${didYouMean(shell, names) || `, but for ${names.join(', ')}`}`)
    }
    process.stdout.write(script)
  }
}
