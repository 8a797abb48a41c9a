import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { Collection } from '../../protocol/definitions/collection.js'
import { registryOf, type Registry } from '../../protocol/definitions/definition-registry.js'
import { errors, type McpError } from '../../protocol/wire/errors.js'
import type { Prompt } from '../../protocol/definitions/prompt.js'
import { convert } from '../../protocol/revisions/convert.js'
import { relayed } from '../../protocol/revisions/relayed.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The prompts of every transport. Adding or removing one is announced to all clients. */
    prompts: Registry<Prompt>
  }
}

declare module '../core/views.js' {
  interface View {
    readonly prompts: Registry<Prompt>
  }
}

const LIST_CHANGED = 'notifications/prompts/list_changed'

const GetParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Record(Type.String(), Type.String()))
})

export default fp(
  async ({ mcp }) => {
    const { dispatcher, scopes } = mcp
    const parts = mcp.views.divide('prompts', view => {
      const prompts = new Collection<Prompt>('prompt', dispatcher.observers.reporter('prompts'))
      mcp.announce(prompts, LIST_CHANGED, of => of === view)
      return {
        prompts,
        listing: scopes.listing('prompts', prompts),
        registry: registryOf('prompt', prompts),
        clear: () => prompts.clear()
      }
    })

    mcp.provide('prompts', parts.whole.registry)
    mcp.announce(scopes, LIST_CHANGED, () => true)
    mcp.paginate('prompts/list', 'prompts', view => parts.of(view).listing)
    dispatcher.capabilities.declare('prompts', () => ({ listChanged: true }))

    mcp.method(
      'prompts/get',
      GetParams,
      async ({ name, arguments: given = {} }, call, prompt: Prompt | undefined) => {
        if (prompt === undefined) throw unknown(name, call)
        if (prompt.relay !== undefined) {
          return relayed.promptResult(await prompt.relay(call.params, call), call.revision)
        }
        const missing = prompt.required.filter(argument => !Object.hasOwn(given, argument))
        if (missing.length > 0) throw errors.invalidParams(`prompt ${name} needs ${missing.join(', ')}`)
        const { messages, ...rest } = await prompt.get(given, call)
        return {
          ...rest,
          messages: messages.map(({ role, content }) => ({
            role,
            content: convert.content(content, call.revision.features)
          }))
        }
      },
      {
        target: ({ name }, call) => scopes.targetIn('prompts', parts.of(call.peer.view).prompts, name, call),
        unknown: ({ name }, call) => unknown(String(name), call)
      }
    )

    function unknown (name: string, call: Call): McpError {
      return errors.unknownPrompt(name, scopes.suggest(name, 'prompts', parts.of(call.peer.view).prompts, call))
    }
  },
  {
    name: 'patchbay-prompts',
    dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions', 'patchbay-views']
  }
)
