import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { folder } from '../process.js'
import { within } from '../wait.js'

type Program = { program: string, package: string }
// The module is not compiled, so it stays where the sources are.
const { missing } = (await import(new URL('../../../../scripts/test-setup.mjs', import.meta.url).href)) as {
  missing: () => Program[]
}

const VARIABLES = ['DISPLAY', 'WAYLAND_DISPLAY', 'XDG_SESSION_TYPE'] as const

/**
 * Why tests with a clipboard cannot run here. Where the programs can be installed it is no excuse that they were not.
 */
export const noDisplay: string | false = skipReason()

/** A display of its own for the test, and with it an empty clipboard; nothing of the user's session is touched. */
export async function display (t: Test): Promise<Display> {
  // xsel writes a log file, which should not land among the user's.
  t.teardown(environment({ XDG_CACHE_HOME: await folder(t, {}) }))
  const server = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '16x16x8', '-nolisten', 'tcp', '-noreset'], {
    stdio: ['ignore', 'pipe', 'ignore']
  })
  await once(server, 'spawn')
  const [number] = (await within(
    60_000,
    async signal => await once(createInterface({ input: server.stdout }), 'line', { signal })
  )) as [string]
  const started = new Display(`:${number}`, server)
  t.teardown(async () => await started.stop())
  process.env['DISPLAY'] = started.name
  return started
}

/** Sets what clipboards look for in the environment, and nothing else of it; the result puts everything back. */
export function environment (
  values: Partial<Record<(typeof VARIABLES)[number] | 'PATH' | 'XDG_CACHE_HOME', string>>
): () => void {
  const before = [...VARIABLES, 'PATH', 'XDG_CACHE_HOME'].map(name => [name, process.env[name]] as const)
  for (const name of VARIABLES) assign(name, undefined)
  for (const [name, value] of Object.entries(values)) assign(name, value)
  return () => {
    for (const [name, value] of before) assign(name, value)
  }
}

export class Display {
  readonly name: string
  readonly #server: ChildProcess

  constructor (name: string, server: ChildProcess) {
    this.name = name
    this.#server = server
  }

  /** The xsel processes of this display, be it the owner of the clipboard or one that reads or writes. */
  programs (): number[] {
    return readdirSync('/proc').filter(entry => /^\d+$/.test(entry)).filter(pid => this.#isOurs(pid)).map(Number)
  }

  /** Stops the owner of the clipboard, as if it hung. */
  freeze (): number {
    const [owner] = this.programs()
    if (owner === undefined) throw new Error('nobody owns the clipboard')
    process.kill(owner, 'SIGSTOP')
    return owner
  }

  async stop (): Promise<void> {
    for (const pid of this.programs()) process.kill(pid, 'SIGKILL')
    if (this.#server.exitCode !== null) return
    this.#server.kill()
    await once(this.#server, 'exit')
  }

  #isOurs (pid: string): boolean {
    try {
      return (
        readFileSync(`/proc/${pid}/comm`, 'utf8') === 'xsel\n' &&
        !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')) &&
        readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`DISPLAY=${this.name}`)
      )
    } catch {
      return false
    }
  }
}

function assign (name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

function skipReason (): string | false {
  if (process.platform !== 'linux') return 'the clipboard tests bring their own X server, on Linux only'
  const programs = missing()
    .map(({ program }) => program)
    .filter(program => ['Xvfb', 'xsel'].includes(program))
    .join(' and ')
  const installable = process.env['CI'] === 'true' && process.getuid?.() === 0
  return programs === '' || installable ? false : `not installed: ${programs}`
}
