import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import type { Call } from '../protocol/dispatch/call.js'
import { tool } from '../protocol/definitions/tool.js'

interface Shown { stdout: string, stderr: string, truncated: boolean, failure?: string }

const SIGN_OF_LIFE = 1_000

const Input = Type.Object(
  {
    command: Type.String({ description: 'The name of a command' }),
    args: Type.Optional(
      Type.Array(Type.String({ maxLength: 8_192 }), {
        description: 'Its arguments; they reach the program as they are'
      })
    )
  },
  { additionalProperties: false }
)

const Output = Type.Object({
  exitCode: Type.Union([Type.Integer(), Type.Null()]),
  signal: Type.Union([Type.String(), Type.Null()]),
  stdout: Type.String(),
  stderr: Type.String(),
  truncated: Type.Boolean({ description: 'Whether output was left out' }),
  failure: Type.Optional(Type.String({ description: 'Why the command failed' }))
})

export default async function executeCommand (fastify: FastifyInstance): Promise<void> {
  const { mcp: { commands } } = fastify
  if (commands.names.length === 0) {
    fastify.mcp.unavailable.set(
      'execute_command',
      'no programs are listed: set option commands, see docs/built-in-tools.md'
    )
    return
  }
  fastify.mcp.tools.add(tool({
    name: 'execute_command',
    title: 'Execute a command',
    scopes: ['exec'],
    description: `Execute a command. Allowed are: ${commands.names.join(', ')}`,
    annotations: { destructiveHint: true, openWorldHint: true },
    input: Input,
    output: Output,
    failed: ({ failure }) => failure !== undefined,
    text: showOutput,
    run: async ({ command, args = [] }, call) => {
      commands.admit(call)
      return await reporting(
        call,
        async onOutput => await commands.run(command, args, { signal: call.signal, onOutput })
      )
    }
  }))
}

/** Reports output as progress, and a program that writes nothing as alive; its own timeout ends it. */
async function reporting<T> (
  call: Call,
  work: (onOutput: (bytes: number, text: string) => void) => Promise<T>
): Promise<T> {
  let written = 0
  const alive = setInterval(() => call.progress(written), SIGN_OF_LIFE).unref()
  try {
    return await work((bytes, text) => {
      written = bytes
      call.progress(bytes, undefined, text)
    })
  } finally {
    clearInterval(alive)
  }
}

function showOutput ({ stdout, stderr, truncated, failure }: Shown): string {
  const output = stdout + (stdout === '' || stderr === '' || stdout.endsWith('\n') ? '' : '\n') + stderr
  const whole = truncated ? `${output}\n(output beyond 256 KiB was left out)` : output
  if (failure === undefined) return whole
  return whole === '' ? `Command failed: ${failure}` : `Command failed: ${failure}\n${whole}`
}
