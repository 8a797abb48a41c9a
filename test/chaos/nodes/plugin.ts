import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../../app.js'

const Text = Type.String({ maxLength: 200 })

/** What the clients of several nodes call: each answer has the text that its caller sent. */
export default async function nodeTools ({ mcp: { tools } }: FastifyInstance): Promise<void> {
  for (const item of [echo, say, question]) tools.add(item)
}

const echo = tool({
  name: 'nodes_echo',
  description: 'Gives back what it was given, after so many steps',
  input: Type.Object({ text: Text, steps: Type.Optional(Type.Integer()), ms: Type.Optional(Type.Integer()) }),
  run: async ({ text, steps = 0, ms = 0 }, call) => {
    for (let step = 1; step <= steps; step++) {
      call.progress(step, steps, text)
      await sleep(ms, undefined, { signal: call.signal })
    }
    return text
  }
})

const say = tool({
  name: 'nodes_say',
  description: 'Sends a text to the session it is called from',
  input: Type.Object({ text: Text }),
  run: ({ text }, { peer }) => {
    peer.notify('notifications/message', { level: 'alert', data: text })
    return text
  }
})

const question = tool({
  name: 'nodes_question',
  description: 'Asks the client for a text, its user, its model or for its roots, and gives the text back',
  input: Type.Object({ text: Text, kind: Type.Optional(Type.String()) }),
  run: async ({ text, kind }, call) => {
    if (kind === 'roots') return (await call.roots()).map(({ uri }) => uri.replace('file:///', '')).join()
    if (kind === 'sampling') {
      const { content } = await call.sample('text', {
        messages: [{ role: 'user', content: { type: 'text', text } }],
        maxTokens: 10
      })
      return (content as { text: string }).text
    }
    const { content } = await call.elicit('text', {
      message: text,
      requestedSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    })
    return String(content?.text)
  }
})
