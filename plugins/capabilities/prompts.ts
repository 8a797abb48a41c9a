import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { Collection } from '../../protocol/definitions/collection.js'
import { registryOf, type Registry } from '../../protocol/definitions/definition-registry.js'
import { errors } from '../../protocol/wire/errors.js'
import type { Prompt } from '../../protocol/definitions/prompt.js'
import { convert } from '../../protocol/revisions/convert.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The prompts of every transport. Adding or removing one is announced to all clients. */
    prompts: Registry<Prompt>
  }
}

const GetParams = Type.Object({ name: Type.String(), arguments: Type.Optional(Type.Record(Type.String(), Type.String())) })

export default fp(async ({ mcp }) => {
  const { dispatcher, scopes } = mcp
  const prompts = new Collection<Prompt>('prompt', dispatcher.observers.reporter('prompts'))

  mcp.provide('prompts', registryOf('prompt', prompts))
  for (const source of [prompts, scopes]) mcp.announce(source, 'notifications/prompts/list_changed')
  mcp.paginate('prompts/list', 'prompts', scopes.listing('prompts', prompts))
  dispatcher.capabilities.declare('prompts', () => ({ listChanged: true }))

  mcp.method('prompts/get', GetParams, async ({ name, arguments: given = {} }, call, prompt: Prompt | undefined) => {
    if (prompt === undefined) throw errors.unknownPrompt(name)
    const missing = prompt.required.filter(argument => !Object.hasOwn(given, argument))
    if (missing.length > 0) throw errors.invalidParams(`prompt ${name} needs ${missing.join(', ')}`)
    const { messages, ...rest } = await prompt.get(given, call)
    return { ...rest, messages: messages.map(({ role, content }) => ({ role, content: convert.content(content, call.revision.features) })) }
  }, {
    target: ({ name }) => scopes.targetIn('prompts', prompts, name),
    unknown: ({ name }) => errors.unknownPrompt(String(name))
  })
}, { name: 'patchbay-prompts', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions'] })
