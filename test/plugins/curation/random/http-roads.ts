import type { FastifyInstance } from 'fastify'
import type { Identity } from '../../../../app.js'
import { modernMeta } from '../../../support/modern.js'
import type { Json } from '../../../support/specification/message.js'
import { randomOf, type Configuration, type Item } from './configuration.js'
import { referenceOf } from './reference.js'
import { ruledOf } from './ruled.js'

/** What callers send for the argument that rules look at; undefined for nothing. */
const VALUES = [undefined, 'fixed', 'free', 'filled', 'x', 3, 4, null, true, ['fixed'], { is: 'fixed' }]
/** How many calls of a configuration are sent over each road. */
const CALLS = 2

type Outcome = 'denied' | 'gone' | 'open'

/** The ways of a call over HTTP: each sends it, and gives the text that came back. */
const ROADS: Record<string, (app: FastifyInstance, view: string, name: string, args: Json) => Promise<string>> = {
  'POST /mcp': async (app, view, name, args) => await postModern(app, view, name, args),
  'a retry with answers': async (app, view, name, args) =>
    await postModern(app, view, name, args, { inputResponses: { guess: { action: 'accept', content: {} } } }),
  'a batch': async (app, view, name, args) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const payload = [{ jsonrpc: '2.0', id: 2, method: 'ping' }, call]
    const { body } = await app.inject({ method: 'POST', url: `/ai/message${view}`, payload })
    return JSON.stringify((JSON.parse(body) as Json[]).find(({ id }) => id === 1))
  },
  'plain HTTP': async (app, view, name, args) => {
    const url = `/ai/api${view}/tools/${encodeURIComponent(name)}`
    return (await app.inject({ method: 'POST', url, payload: args })).body
  }
}

/** Finds what calls over HTTP are answered otherwise than the reference says. `setCaller` sets who calls. */
export async function compareHttpRoads (
  app: FastifyInstance,
  given: Configuration,
  seed: number,
  setCaller: (identity: Identity) => void
): Promise<string[]> {
  // Narrowing is one of connections and requests of MCP.
  const configuration = { ...given, narrow: {}, hasStatus: true }
  const { granted, claims, view } = configuration
  setCaller({ principal: 'ada', scopes: new Set(granted), claims })
  const random = randomOf(seed + 7)
  const tools = referenceOf(configuration, 'tools')
  const denies = (item: Item, value: unknown): boolean =>
    ruledOf(configuration, readAs(item, configuration), sent(item, configuration, value).own).isDenied
  // Arguments decide about few tools: one of them is always called.
  const decided = tools.filter(({ item, fate }) => fate === 'seen' && VALUES.some(value => denies(item, value)))
  const found: string[] = []
  for (let count = 0; count < CALLS && tools.length > 0; count++) {
    const among = count === 0 && decided.length > 0 ? decided : tools
    const one = among[random(among.length)]
    if (one === undefined) continue
    const value = VALUES[random(VALUES.length)]
    const { args } = sent(one.item, configuration, value)
    const isDenied = denies(one.item, value)
    const expected: Outcome = one.fate !== 'seen' ? 'gone' : isDenied ? 'denied' : 'open'
    for (const [road, send] of Object.entries(ROADS)) {
      const text = await send(app, view === undefined ? '' : '/some', one.name, args)
      const outcome = outcomeIn(text)
      if (outcome !== expected) found.push(`${road} ${one.name} ${JSON.stringify(args)}: ${outcome}, not ${expected}: ${text}`)
    }
  }
  return found
}

async function postModern (
  app: FastifyInstance,
  view: string,
  name: string,
  args: Json,
  more: Json = {}
): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: `/ai/mcp${view}`,
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name
    },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, _meta: modernMeta(), ...more }
    }
  })
  return response.body
}

/** The arguments that a caller sends for a value, by the name that it knows, and the value that the tool gets. */
function sent ({ canonical }: Item, { view }: Configuration, value: unknown): { args: Json, own: unknown } {
  const override = view?.override?.[canonical]?.arguments?.['index']
  const isFixed = override !== undefined && 'value' in override
  const args = value === undefined ? {} : { [override === undefined || isFixed ? 'index' : 'where']: value }
  if (override === undefined) return { args, own: value }
  // A fixed argument that is sent is refused, and what is refused is missing for rules.
  if (isFixed) return { args, own: value === undefined ? override.value : undefined }
  return { args, own: value === undefined ? override.default : value }
}

const readAs = ({ canonical, readOnly }: Item, { view }: Configuration): Pick<Item, 'canonical' | 'readOnly'> =>
  ({ canonical, readOnly: (view?.override?.[canonical]?.annotations?.readOnlyHint ?? readOnly) === true })

function outcomeIn (text: string): Outcome {
  if (text.includes('this call is not allowed')) return 'denied'
  return /PATCHBAY_(UNKNOWN_TOOL|FORBIDDEN|INSUFFICIENT_SCOPE)|Forbidden/i.test(text) ? 'gone' : 'open'
}
