import { tmpdir } from 'node:os'
import { isAbsolute } from 'node:path'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { ToolError } from '../../protocol/wire/errors.js'
import { canExplode } from '../../lib/patterns/explosive-pattern.js'
import { isExecutable, isFolder, lookUp } from '../../system/programs/executable.js'
import { runProgram, type ProgramResult, type RunOptions } from '../../system/programs/program.js'
import { Semaphore } from '../../lib/semaphore.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The programs that the operator lists. */
    commands: {
      readonly names: string[]
      /**
       * Throws a `ToolError` when the call came neither over stdio nor with authentication, or through a proxy and the
       * options do not allow that.
       */
      admit: (call: Call) => void
      /**
       * Runs a program, at most four at a time. Throws a `ToolError` when it, or one of the arguments, is not allowed.
       */
      run: (name: string, args: string[], watch: RunOptions) => Promise<ProgramResult>
    }
  }
}

/** A program as the operator describes it. */
interface Listed { program?: string, args?: string[], maxArgs?: number, folder?: string, timeout?: number }

interface Command {
  name: string
  path: string
  patterns: string[]
  allowed: RegExp[]
  maxArgs: number
  folder: string
  timeout: number
}

const MAX_RUNNING = 4
const FORWARDED =
  'execute_command is not served to requests that came through a proxy, which have a Forwarded, Via, X-Real-IP or X-Forwarded-* header; ' +
  'connect to the gateway directly, or set its option allowForwarded to true'

/** Checks the listed programs at start; the error names the option that is wrong. */
export default fp(
  async (
    fastify,
    { commands: listed, allowForwarded }: { commands: Record<string, Listed>, allowForwarded: boolean }
  ) => {
    const commands = new Map(Object.entries(listed).map(([name, command]) => [name, checkCommand(name, command)]))
    const turns = new Semaphore(MAX_RUNNING)
    for (const { name, patterns } of commands.values()) {
      for (const pattern of patterns.filter(canExplode)) {
        fastify.log.warn(
          { command: name, pattern },
          'a pattern of option commands can take for ever on some arguments, and everything waits meanwhile: avoid repetitions inside repetitions'
        )
      }
    }

    fastify.mcp.provide('commands', {
      names: [...commands.keys()],
      admit: ({ local, principal, forwarded }) => {
        if (!local && principal === undefined) {
          throw new ToolError('execute_command is served only over stdio, or with authentication')
        }
        if (forwarded && !allowForwarded) throw new ToolError(FORWARDED)
      },
      run: async (name, args, watch) => {
        const command = commands.get(name)
        if (command === undefined) {
          throw new ToolError(`${quoteText(name)} is not allowed; allowed are ${[...commands.keys()].join(', ')}`)
        }
        checkArgs(command, args)
        const { path, folder, timeout } = command
        return await turns.run(watch.signal, async () => await runProgram({ path, args, folder, timeout }, watch))
      }
    })
  },
  { name: 'patchbay-commands', dependencies: ['patchbay-mcp'] }
)

function checkCommand (
  name: string,
  { program, args: patterns = [], maxArgs = 16, folder = tmpdir(), timeout = 30_000 }: Listed
): Command {
  const option = `option commands.${name}`
  const path = program ?? lookUp(name)
  if (path === undefined) {
    throw new Error(`${option}: there is no program ${name} on the PATH; set commands.${name}.program to where it is`)
  }
  if (!isAbsolute(path)) throw new Error(`${option}.program must be an absolute path, not "${path}"`)
  if (!isExecutable(path)) {
    throw new Error(`${option}.program must be a file that may be executed, which "${path}" is not`)
  }
  if (!isAbsolute(folder) || !isFolder(folder)) {
    throw new Error(`${option}.folder must be the absolute path of a folder, which "${folder}" is not`)
  }
  const allowed = patterns.map((pattern, index) => compile(pattern, `${option}.args.${index}`))
  return { name, path, patterns, allowed, maxArgs, folder, timeout }
}

function compile (pattern: string, option: string): RegExp {
  try {
    // Compiled alone first, because a pattern such as a)|(b would escape the group.
    return new RegExp(`^(?:${new RegExp(pattern, 'u').source})$`, 'u')
  } catch (error) {
    throw new Error(`${option} must be a regular expression: ${(error as Error).message}`, { cause: error })
  }
}

function checkArgs ({ name, patterns, allowed, maxArgs }: Command, args: string[]): void {
  const refuse = (index: number, instead: string) => {
    throw new ToolError(
      `argument ${index + 1} of ${name}, ${quoteText(args[index] ?? '')}, is not allowed; allowed are ${instead}`
    )
  }
  if (args.length > maxArgs) refuse(maxArgs, `at most ${maxArgs} arguments`)
  for (const [index, arg] of args.entries()) {
    // The operating system takes neither NUL nor half of a surrogate pair.
    if (/\0|\p{Surrogate}/u.test(arg)) refuse(index, 'arguments without NUL and without half characters')
    if (!allowed.some(pattern => pattern.test(arg))) {
      refuse(index, patterns.length === 0 ? 'no arguments' : `arguments that match ${patterns.join(' or ')}`)
    }
  }
}

/** Shortened and quoted, with invisible and reordering characters escaped. */
function quoteText (text: string): string {
  const start = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return JSON.stringify(start).replace(/(?! )[\p{C}\p{Z}]/gu, letter => `\\u{${letter.codePointAt(0)?.toString(16)}}`)
}
