import { Type, type Static } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Completers } from '../protocol/completion.js'
import { errors } from '../protocol/errors.js'

const MAX_VALUES = 100

const Complete = Type.Object({
  ref: Type.Union([
    Type.Object({ type: Type.Literal('ref/prompt'), name: Type.String() }),
    Type.Object({ type: Type.Literal('ref/resource'), uri: Type.String() })
  ]),
  argument: Type.Object({ name: Type.String(), value: Type.String() }),
  context: Type.Optional(Type.Object({ arguments: Type.Optional(Type.Record(Type.String(), Type.String())) }))
})

/** Suggestions for prompt arguments and template variables, from the `complete` functions of their definitions. */
export default fp(async fastify => {
  const { mcp } = fastify

  mcp.capability('completions', ({ features }) => features.completions ? {} : undefined)

  mcp.method('completion/complete', Complete, async ({ ref, argument, context }, call) => {
    const { known, complete } = find(ref)
    if (!known.includes(argument.name)) throw errors.invalidParams(`there is no argument "${argument.name}"`)
    const all = await complete[argument.name]?.(argument.value, context?.arguments ?? {}, call) ?? []
    return { completion: { values: all.slice(0, MAX_VALUES), total: all.length, hasMore: all.length > MAX_VALUES } }
  })

  function find (ref: Static<typeof Complete>['ref']): { known: readonly string[], complete: Completers } {
    if (ref.type === 'ref/prompt') {
      const prompt = fastify.prompts.get(ref.name)
      if (prompt === undefined) throw errors.invalidParams(`Unknown prompt: ${ref.name}`)
      return { known: prompt.arguments, complete: prompt.complete }
    }
    const resource = fastify.resources.get(ref.uri)
    if (resource?.template === undefined) throw errors.invalidParams(`Unknown resource template: ${ref.uri}`)
    return { known: resource.template.variables, complete: resource.complete }
  }
}, { name: 'completion', dependencies: ['mcp', 'prompts', 'resources'] })
