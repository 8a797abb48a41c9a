import { Type, type Static } from '@sinclair/typebox'

/** How much of results clients get: of the tools of a server, of those in a view, or of one tool. */
export const ResultOptions = Type.Object(
  {
    max: Type.Optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 2 ** 31 - 1,
        'x-expected': 'must be a whole number of characters, 1000 or more',
        description: 'The most characters of a result; of a longer one, head and tail are sent, and the whole is kept'
      })
    ),
    keep: Type.Optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 2 ** 31 - 1,
        'x-expected': 'must be a whole number of milliseconds, 1000 or more',
        description: 'For how many milliseconds the whole result is kept; an hour without it'
      })
    ),
    select: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        'x-expected': 'must be a JMESPath expression of up to 4096 characters',
        description: 'A JMESPath expression: results that are JSON are replaced by its value'
      })
    )
  },
  {
    additionalProperties: false,
    'x-expected': 'must be an object such as {"max":50000,"keep":3600000,"select":"items[].{id: id}"}',
    description: 'How much of results clients get: [Small results](views.md#small-results)'
  }
)

export type ResultOptions = Static<typeof ResultOptions>

/** The options for the results of one tool, by what they were given for: its server, its view, or the tool itself. */
export interface ResultLayers {
  readonly server?: ResultOptions | undefined
  readonly view?: ResultOptions | undefined
  readonly tool?: ResultOptions | undefined
}

/** The members of a tool that are about its results. */
interface ToolWithResults {
  readonly results?: ResultLayers | undefined
  readonly hasWholeResults?: boolean | undefined
  readonly listed: Record<string, unknown>
}

/** How long results are kept unless `keep` says otherwise, in milliseconds. */
export const KEPT = 3_600_000

/** Merges the options field by field: a tool wins over its view, and a view over its server. */
export function mergeResultOptions ({ server, view, tool }: ResultLayers): ResultOptions {
  return { ...server, ...view, ...tool }
}

/**
 * The members of a tool that change with options for its results, added to those it has: it lists no output schema that
 * its results would not fit. Nothing for a tool whose results always are whole.
 */
export function withResults (
  { results, listed, hasWholeResults }: ToolWithResults,
  layers: ResultLayers
): Partial<Pick<ToolWithResults, 'results' | 'listed'>> {
  const { server, view, tool } = layers
  if (hasWholeResults === true || (server ?? view ?? tool) === undefined) return {}
  const all = mergeLayers(results, layers)
  const { max, select } = mergeResultOptions(all)
  if (max === undefined && select === undefined) return { results: all }
  const { outputSchema, ...rest } = listed
  return { results: all, listed: outputSchema === undefined ? listed : rest }
}

const mergeLayers = (one: ResultLayers = {}, other: ResultLayers): ResultLayers => ({
  server: { ...one.server, ...other.server },
  view: { ...one.view, ...other.view },
  tool: { ...one.tool, ...other.tool }
})
