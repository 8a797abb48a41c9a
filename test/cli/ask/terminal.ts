import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Test } from 'tap'
import { COMMAND } from '../../support/command.js'
import { folder } from '../../support/process.js'
import { inTime, until } from '../../support/wait.js'

/** Why there is no terminal for a test; false where there is one. */
export const lacksTerminal =
  spawnSync('script', ['--version']).stdout?.includes('util-linux') !== true && 'there is no script of util-linux'

/** The shells, how they are started without the user's own files, and how their completion is set up. */
const SHELLS = {
  bash: ["PS1='$ ' bash --norc --noprofile -i", 'eval "$(patchbay completion bash)"'],
  zsh: ["PS1='$ ' zsh -f -i", 'autoload -U compinit && compinit -u -D && source <(patchbay completion zsh)'],
  fish: ['fish --no-config', 'patchbay completion fish | source']
} as const

/** Runs a test in each shell that completes words; one that this machine lacks is skipped. */
export function inShells (
  t: Test,
  name: (shell: string) => string,
  test: (t: Test, openShell: OpenShell) => Promise<void>
): void {
  for (const [shell, [start, setUp]] of Object.entries(SHELLS)) {
    const isMissing = spawnSync(shell, ['--version']).status !== 0 && `there is no ${shell}`
    void t.test(name(shell), { skip: lacksTerminal || isMissing }, async t => {
      await test(t, async (place, env) => {
        const terminal = await openTerminal(t, `cd '${place}'; ${start}`, env)
        terminal.type(`${setUp}; echo "rea"dy\r`)
        await terminal.shows(/ready/)
        return terminal
      })
    })
  }
}

/** Opens a shell that completes words in a folder. */
type OpenShell = (place: string, env?: Record<string, string>) => Promise<Terminal>

/** A command in a terminal of 80 columns. */
export interface Terminal {
  /** Everything that it shows, without the codes that move the cursor. */
  readonly text: () => string
  /** The bytes as they came. */
  readonly raw: () => string
  /** Waits until it shows this. */
  readonly shows: (what: RegExp) => Promise<void>
  readonly type: (keys: string) => void
  readonly exit: () => Promise<number | null>
}

/** Runs a line of bash in a terminal, where `patchbay` is the tested command. */
export async function openTerminal (t: Test, line: string, env: Record<string, string> = {}): Promise<Terminal> {
  const bin = await folder(t, {})
  writeFileSync(join(bin, 'patchbay'), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`)
  chmodSync(join(bin, 'patchbay'), 0o755)
  const child = spawn('script', ['-qefc', `stty cols 80 rows 24; ${line}`, '/dev/null'], {
    cwd: tmpdir(),
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: bin, XDG_DATA_HOME: bin, TERM: 'xterm', SHELL: '/bin/bash', LANG: 'C.UTF-8', ...env }
  })
  let raw = ''
  child.stdin.on('error', () => {})
  child.stdout.on('data', (chunk: Buffer) => { raw += String(chunk) })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const text = (): string => stripVTControlCharacters(raw).replaceAll('\r', '')
  return {
    text,
    raw: () => raw,
    shows: async what => {
      await until(() => what.test(text()), `${String(what)} on the terminal`).catch(error => {
        throw new Error(`${String(error)}: ${text()}`)
      })
    },
    type: keys => { child.stdin.write(keys) },
    exit: async () => await inTime(ended, 'the end')
  }
}
