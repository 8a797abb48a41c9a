import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Completers, Relay } from '../../protocol/definitions/common-members.js'
import { relayed } from '../../protocol/revisions/relayed.js'
import { errors, shorten, type McpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import { checkLengths } from '../../protocol/wire/result-size.js'
import type { View } from '../core/views.js'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Target } from '../../protocol/dispatch/target.js'

const MAX_VALUES = 100

interface Reference { type?: unknown, name?: unknown, uri?: unknown }

interface Completable { names: readonly string[], complete: Completers, relay: Relay | undefined }

const Complete = Type.Object({
  ref: Type.Union([
    Type.Object({ type: Type.Literal('ref/prompt'), name: Type.String() }),
    Type.Object({ type: Type.Literal('ref/resource'), uri: Type.String() })
  ]),
  argument: Type.Object({ name: Type.String(), value: Type.String() }),
  context: Type.Optional(Type.Object({ arguments: Type.Optional(Type.Record(Type.String(), Type.String())) }))
})

/** Suggestions for prompt arguments and template variables, from the `complete` functions of their definitions. */
export default fp(
  async ({ mcp }) => {
    const { dispatcher, scopes, views } = mcp

    dispatcher.capabilities.declare('completions', ({ features }) => (features.completions ? {} : undefined))

    mcp.method(
      'completion/complete',
      Complete,
      async ({ ref, argument, context }, call, found: Completable | undefined) => {
        const { names, complete, relay } = found ?? missing(ref)
        if (relay !== undefined) return relayed.anyResult(await relay(call.params, call), call.revision)
        if (!names.includes(argument.name)) {
          throw errors.invalidParams(`there is no argument "${shorten(argument.name)}"`)
        }
        const all = (await complete[argument.name]?.(argument.value, context?.arguments ?? {}, call)) ?? []
        checkLengths(all)
        if (!Array.isArray(all) || all.some(value => typeof value !== 'string')) {
          throw new Error(`the suggestions for "${argument.name}" are no list of texts`)
        }
        return { completion: { values: all.slice(0, MAX_VALUES), total: all.length, hasMore: all.length > MAX_VALUES } }
      },
      {
        target: ({ ref }, call) =>
          isObject(ref) ? find(ref, call.peer.view === undefined ? mcp : views.get(call.peer.view), call) : undefined,
        unknown: ({ ref }) => unknown(ref as Reference)
      }
    )

    function find (
      ref: Reference,
      seen: Pick<View, 'prompts' | 'resources'> | undefined,
      call: Call
    ): Target<Completable> | undefined {
      if (ref.type === 'ref/prompt') {
        const prompt = typeof ref.name === 'string' ? seen?.prompts.get(ref.name) : undefined
        const target = prompt && scopes.targetFor('prompts', prompt.name, prompt, call)
        return prompt && target && {
          ...target,
          item: { names: prompt.arguments, complete: prompt.complete, relay: prompt.relayCompletion }
        }
      }
      const resource = typeof ref.uri === 'string' ? seen?.resources.get(ref.uri) : undefined
      if (resource?.template === undefined) return undefined
      const target = scopes.targetFor('resources', resource.uri, resource, call)
      return target && {
        ...target,
        item: { names: resource.template.variables, complete: resource.complete, relay: resource.relayCompletion }
      }
    }
  },
  {
    name: 'patchbay-completion',
    dependencies: ['patchbay-mcp', 'patchbay-prompts', 'patchbay-resources', 'patchbay-scopes', 'patchbay-views']
  }
)

const unknown = ({ type, name, uri }: Reference): McpError =>
  type === 'ref/prompt' ? errors.unknownPrompt(String(name)) : errors.unknownTemplate(String(uri))

function missing (ref: Reference): never {
  throw unknown(ref)
}
