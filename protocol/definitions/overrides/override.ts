import { Type, type Static } from '@sinclair/typebox'
import { Patience } from '../patience.js'
import { TaskUse } from '../task-use.js'
import { ResultOptions } from '../result-options.js'

const Text = (description: string) => Type.Optional(Type.String({ 'x-expected': 'must be a text', description }))
const Flag = (description: string) =>
  Type.Optional(Type.Boolean({ 'x-expected': 'must be true or false', description }))

/** Changes one argument, which is known by the name that the tool itself has for it. */
export const ArgumentOverride = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: '^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$',
        'x-expected': 'must be a name of up to 64 letters, digits, _ . and -',
        description: 'The name that callers know it by'
      })
    ),
    value: Type.Optional(
      Type.Unknown({
        description:
          'A value that is always sent. Callers do not see the argument, and are refused if they send it. Variables such as `${NAME}` are replaced' // eslint-disable-line no-template-curly-in-string
      })
    ),
    default: Type.Optional(Type.Unknown({ description: 'The value that is sent if a caller sends none' })),
    description: Text('Its description, in place of that of the tool'),
    required: Flag('Whether callers have to send it')
  },
  { additionalProperties: false, 'x-expected': 'must be an object such as {"default":50}' }
)

export type ArgumentOverride = Static<typeof ArgumentOverride>

/** Changes how one tool is listed, and which arguments its callers have. */
export const ToolOverride = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        'x-expected': 'must be a name of up to 64 letters, digits, _ and -',
        description: 'Its name: behind the prefix in the entry of a server, the whole name in a view'
      })
    ),
    title: Text('Its title for people'),
    description: Text('Its description, in place of its own'),
    annotations: Type.Optional(
      Type.Object(
        {
          title: Text('A title for people'),
          readOnlyHint: Flag('Whether it changes nothing'),
          destructiveHint: Flag('Whether it may destroy something'),
          idempotentHint: Flag('Whether a second call with the same arguments changes nothing more'),
          openWorldHint: Flag('Whether it reaches beyond the server')
        },
        {
          additionalProperties: false,
          'x-expected': 'must be an object such as {"readOnlyHint":true}',
          description: 'Annotations, each in place of its own'
        }
      )
    ),
    _meta: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        'x-expected': 'must be an object',
        description: 'Members of `_meta`, each in place of its own'
      })
    ),
    arguments: Type.Optional(
      Type.Record(Type.String(), ArgumentOverride, {
        'x-expected': 'must be an object with the arguments by name',
        description: 'Changes of its arguments, by the names that the tool itself has for them'
      })
    ),
    results: Type.Optional(ResultOptions),
    patience: Type.Optional(Patience),
    task: Type.Optional(TaskUse)
  },
  { additionalProperties: false, 'x-expected': 'must be an object such as {"description":"…"}' }
)

export type ToolOverride = Static<typeof ToolOverride>

/** Changes of several tools, by their names. */
export const ToolOverrides = (description: string) =>
  Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), ToolOverride, {
      'x-expected': 'must be an object with the tools by name',
      description
    })
  )

export type ToolOverrides = Readonly<Record<string, ToolOverride>>

/** The overrides with other values of the arguments that are fixed. */
export function withFixedValues (
  overrides: ToolOverrides,
  map: (value: unknown, tool: string, argument: string) => unknown
): ToolOverrides {
  return Object.fromEntries(
    Object.entries(overrides).map(([tool, override]) => {
      if (override.arguments === undefined) return [tool, override]
      const args = Object.entries(override.arguments).map(([name, argument]) => [
        name,
        argument.value === undefined ? argument : { ...argument, value: map(argument.value, tool, name) }
      ])
      return [tool, { ...override, arguments: Object.fromEntries(args) as Arguments }]
    })
  )
}

/** The texts in the values that overrides fix. */
export function fixedTexts (overrides: ToolOverrides): string[] {
  return Object.values(overrides).flatMap(({ arguments: args = {} }) =>
    Object.values(args).flatMap(({ value }) => textsIn(value))
  )
}

function textsIn (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Both overrides as one, field by field; the second wins. */
export function mergeOverrides (first: ToolOverride | undefined, second: ToolOverride): ToolOverride {
  if (first === undefined) return second
  const { annotations, _meta, arguments: args, results } = first
  return {
    ...first,
    ...second,
    ...((annotations ?? second.annotations) && { annotations: { ...annotations, ...second.annotations } }),
    ...((_meta ?? second._meta) && { _meta: { ..._meta, ...second._meta } }),
    ...((results ?? second.results) && { results: { ...results, ...second.results } }),
    ...((args ?? second.arguments) && { arguments: mergeArguments(args ?? {}, second.arguments ?? {}) })
  }
}

type Arguments = NonNullable<ToolOverride['arguments']>

function mergeArguments (first: Arguments, second: Arguments): Arguments {
  const names = new Set([...Object.keys(first), ...Object.keys(second)])
  return Object.fromEntries([...names].map(name => [name, { ...first[name], ...second[name] }]))
}
