import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { Collection } from '../../protocol/definitions/collection.js'
import { errors } from '../../protocol/wire/errors.js'
import type { Prompt } from '../../protocol/definitions/prompt.js'
import { convert } from '../../protocol/revisions/convert.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The prompts of every transport. */
    prompts: { add: (prompt: Prompt) => void, remove: (name: string) => boolean, get: (name: string) => Prompt | undefined, names: () => string[] }
  }
}

const Get = Type.Object({ name: Type.String(), arguments: Type.Optional(Type.Record(Type.String(), Type.String())) })

export default fp(async fastify => {
  const { mcp, mcp: { scopes } } = fastify
  const prompts = new Collection<Prompt>('prompt', mcp.dispatcher.observers.reporter('prompts'))

  fastify.mcp.provide('prompts', {
    add: prompt => {
      if (prompt?.kind !== 'prompt') throw new Error('prompts.add takes what prompt({ ... }) returns')
      prompts.add(prompt.name, prompt)
    },
    remove: name => prompts.remove(name),
    get: name => prompts.get(name),
    names: () => prompts.keys()
  })
  for (const source of [prompts, scopes]) fastify.mcp.announce(source, 'notifications/prompts/list_changed')
  fastify.mcp.paginate('prompts/list', 'prompts', scopes.listing('prompts', prompts))
  mcp.dispatcher.capabilities.declare('prompts', () => ({ listChanged: true }))

  mcp.method('prompts/get', Get, async ({ name, arguments: given = {} }, call, prompt: Prompt | undefined) => {
    if (prompt === undefined) throw errors.unknownPrompt(name)
    const missing = prompt.required.filter(argument => !Object.hasOwn(given, argument))
    if (missing.length > 0) throw errors.invalidParams(`prompt ${name} needs ${missing.join(', ')}`)
    const { messages, ...rest } = await prompt.get(given, call)
    return { ...rest, messages: messages.map(({ role, content }) => ({ role, content: convert.content(content, call.revision.features) })) }
  }, {
    target: ({ name }) => {
      const prompt = typeof name === 'string' ? prompts.get(name) : undefined
      return prompt && scopes.target('prompts', prompt.name, prompt)
    },
    unknown: ({ name }) => errors.unknownPrompt(String(name))
  })
}, { name: 'patchbay-prompts', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions'] })
