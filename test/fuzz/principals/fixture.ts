import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { prompt, resource, tool } from '../../../app.js'
import { MARKS } from './callers.js'

const Text = Type.Object({ text: Type.String() })
/** Ada has this right and Bob has not. */
const scopes = ['notes:write']

/** Definitions that send a caller its own text in every possible way, and some that only Ada may use. */
export default async function fixture ({ mcp: { tools, resources, prompts } }: FastifyInstance): Promise<void> {
  tools.add(tool({
    name: 'confide',
    description: 'Says a text in the log, as progress and as its result',
    input: Text,
    run: async ({ text }, call) => {
      call.log('error', text, 'confide')
      call.progress(1, 2, text)
      await new Promise(resolve => setImmediate(resolve))
      call.progress(2, 2, text)
      return text
    }
  }))
  tools.add(tool({
    name: 'ask_about',
    description: 'Asks the user about a text',
    input: Text,
    run: async ({ text }, call) => {
      const { content } = await call.elicit('about', {
        message: text,
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
      })
      return `${text}: ${String(content?.name)}`
    }
  }))
  tools.add(tool({ name: 'vault', description: `vault ${MARKS.ada}`, scopes, run: () => MARKS.ada }))
  resources.add(resource({ uri: 'vault://text', name: `vault ${MARKS.ada}`, scopes, read: () => MARKS.ada }))
  prompts.add(
    prompt({
      name: 'vault',
      description: MARKS.ada,
      scopes,
      arguments: { who: { complete: () => [MARKS.ada] } },
      get: () => MARKS.ada
    })
  )
}
