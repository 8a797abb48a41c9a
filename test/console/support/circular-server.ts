import { hostileServer } from './hostile-server.js'
import type { Answers, Json } from './scripted-server.js'

const itself = { $ref: '#' }
const nested = {
  anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }],
  $defs: { n: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } } }
}

/** Schemas that contain themselves; the last stands for more forms than there is memory. */
export const CIRCLES: Record<string, Json> = {
  'one variant': { anyOf: [itself] },
  items: { items: itself },
  'items or null': { type: ['array', 'null'], items: itself },
  'a list or null': nested,
  'two variants': { type: 'object', anyOf: [itself, itself], default: {} },
  'four variants': {
    type: 'object',
    properties: { a: { anyOf: [itself, itself, itself, itself] } },
    anyOf: [itself, itself, itself, itself],
    default: { a: { a: {} } }
  },
  '5,000 variants': {
    type: 'object',
    oneOf: Array.from({ length: 5_000 }, () => ({ $ref: '#/$defs/w' })),
    $defs: {
      w: {
        properties: Object.fromEntries(
          Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { $ref: '#/$defs/s' }])
        )
      },
      s: { type: 'string' }
    }
  }
}

/** Stands for a list in a list and so on, 20,000 times: deeper than functions can call themselves. */
const DEEP = 'a list of 20,000 levels'

/** Writes a message as JSON, which `JSON.stringify` cannot do for so many levels. */
export const write = (message: Json): string =>
  JSON.stringify(message).replaceAll(`"${DEEP}"`, `${'['.repeat(20_000)}${']'.repeat(20_000)}`)

const ask = (requestedSchema: Json): Json => ({
  method: 'elicitation/create',
  params: { message: 'Which?', requestedSchema }
})

/** A server whose tools and questions have schemas without end. `deep` has one that cannot be drawn. */
export const circularServer: Answers = {
  ...hostileServer,
  'tools/list': () => ({
    tools: [
      ...Object.entries(CIRCLES).map(([name, inputSchema]) => ({
        name,
        inputSchema,
        annotations: { readOnlyHint: true }
      })),
      { name: 'deep', inputSchema: { type: 'object', default: DEEP } },
      { name: 'ask', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
    ]
  }),
  'tools/call': ({ inputResponses }) => {
    if (inputResponses !== undefined) return { content: [] }
    const schemas = [...Object.values(CIRCLES), { type: 'object', default: DEEP }]
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(schemas.map((schema, index) => [`form ${index}`, ask(schema)])),
      requestState: 'state'
    }
  }
}
