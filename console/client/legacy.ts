import { REVISIONS, isObject, type Client, type JsonObject, type ServerFacts } from './contract.js'
import type { Session } from './session.js'

/** Capabilities that the page declares; the last makes questions name the call that they belong to. */
const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  experimental: { 'patchbay/questions': {} }
}

const UPDATED = 'notifications/resources/updated'

/** Initializes the connection in the era of handshakes. */
export async function connectLegacy (session: Session, clientInfo: JsonObject): Promise<Client> {
  const result = await session.send('initialize', () => ({
    protocolVersion: REVISIONS.legacy,
    capabilities: CAPABILITIES,
    clientInfo
  }))
  session.notify('notifications/initialized', {})
  const server = factsOf(result)
  if ('logging' in server.capabilities) {
    await session.send('logging/setLevel', () => ({ level: 'debug' })).catch(() => {})
  }
  return {
    era: 'legacy',
    server,
    request: async (method, params = {}, handlers = {}) =>
      await session.send(
        method,
        id => (handlers.onProgress === undefined ? params : withMeta(params, { progressToken: id })),
        handlers
      ),
    onNotification: listener => session.onNotification(listener),
    subscribe: subscriber(session)
  }
}

/** Several subscriptions of one resource are one for the gateway. */
function subscriber (session: Session): Client['subscribe'] {
  const shared = new Map<string, { count: number, begun: Promise<unknown> }>()
  const leave = (uri: string): boolean => {
    const one = shared.get(uri)
    if (one === undefined || --one.count > 0) return false
    return shared.delete(uri)
  }
  return async (uri, changed) => {
    const one = shared.get(uri) ?? { count: 0, begun: session.send('resources/subscribe', () => ({ uri })) }
    shared.set(uri, one)
    one.count++
    await one.begun.catch((error: unknown) => {
      leave(uri)
      throw error
    })
    const off = session.onNotification((method, params) => { if (method === UPDATED && params.uri === uri) changed() })
    let ended = false
    return () => {
      if (ended) return
      ended = true
      off()
      if (leave(uri)) session.send('resources/unsubscribe', () => ({ uri })).catch(() => {})
    }
  }
}

function factsOf ({ serverInfo, protocolVersion, capabilities, instructions }: JsonObject): ServerFacts {
  return {
    ...namesOf(serverInfo),
    revision: typeof protocolVersion === 'string' ? protocolVersion : REVISIONS.legacy,
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === 'string' ? { instructions } : {})
  }
}

/** Name, title and version out of a server's description of itself. */
export function namesOf (info: unknown): { name: string, title?: string, version: string } {
  const { name, title, version } = isObject(info) ? info : {}
  return {
    name: typeof name === 'string' ? name : 'unnamed server',
    version: typeof version === 'string' ? version : '',
    ...(typeof title === 'string' ? { title } : {})
  }
}

export function withMeta (params: JsonObject, more: JsonObject): JsonObject {
  return { ...params, _meta: { ...(isObject(params._meta) ? params._meta : {}), ...more } }
}
