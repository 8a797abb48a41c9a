import { appendFileSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../../app.js'
import { McpError } from '../../../protocol/wire/errors.js'
import { takeTime } from '../../support/wait.js'

const Work = Type.Object({ tag: Type.String(), ms: Type.Optional(Type.Integer()) })
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

/** Notes in the file that all nodes share that something was done. */
const note = (tag: string): void => { appendFileSync(String(process.env['RUNS']), `${tag}\n`) }

/** Tools whose calls are tasks, as a plugin file; each notes its effect once it takes place. */
export default async function taskTools ({ mcp: { tools } }: FastifyInstance): Promise<void> {
  tools.add(tool({
    name: 'work',
    description: 'Has its effect, and ends after some milliseconds',
    input: Work,
    task: 'must',
    run: async ({ tag, ms = 0 }, { signal }) => {
      note(tag)
      await takeTime(ms, signal)
      note(`end ${tag}`)
      return `did ${tag}`
    }
  }))
  tools.add(tool({
    name: 'ask',
    description: 'Asks, and has its effect then',
    input: Work,
    task: 'must',
    run: async ({ tag, ms = 0 }, call) => {
      const { content } = await call.elicit('who', { message: 'Who?', requestedSchema: FORM })
      note(tag)
      await takeTime(ms, call.signal)
      return `did ${tag} for ${String(content?.name)}`
    }
  }))
  tools.add(tool({
    name: 'fail',
    description: 'Has its effect, and fails',
    input: Work,
    task: 'must',
    run: ({ tag }) => {
      note(tag)
      throw new McpError(-32603, `failed ${tag}`, undefined, 500)
    }
  }))
}
