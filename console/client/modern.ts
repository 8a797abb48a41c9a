import { REVISIONS, isObject, type Client, type Handlers, type JsonObject, type ServerFacts } from './contract.js'
import { namesOf, withMeta } from './legacy.js'
import { listener } from './listen.js'
import { inRounds, type Send } from './rounds.js'
import type { Session } from './session.js'

const META = 'io.modelcontextprotocol/'

const ANSWERS = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const EXPERIMENTAL = { experimental: { 'patchbay/questions': {} } }

/** How long the acknowledgement of a subscription is waited for, in milliseconds. */
const MAX_WAIT = 2_000

/** A client of the revision without a handshake: asks what the server is, and for changes of its lists. */
export async function connectModern (session: Session, clientInfo: JsonObject): Promise<Client> {
  const send: Send = async (method, params, handlers = {}, questions) =>
    await session.send(method, id => withMeta(params, metaOf(id, clientInfo, handlers)), handlers, questions)
  const discovered = await send('server/discover', {})
  const listenTo = listener(session, (id, handlers) => metaOf(id, clientInfo, handlers))
  const listening = listenTo(
    { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
    () => {}
  ).catch(() => {})
  // A server that says nothing to it can be used all the same.
  await Promise.race([listening, new Promise(resolve => { setTimeout(resolve, MAX_WAIT) })])
  return {
    era: 'modern',
    server: factsOf(discovered),
    request: async (method, params = {}, handlers = {}) => await inRounds(session, send, method, params, handlers),
    onNotification: listener => session.onNotification(listener),
    subscribe: async (uri, changed) => await listenTo({ resourceSubscriptions: [uri] }, changed)
  }
}

function metaOf (id: number, clientInfo: JsonObject, { onProgress, onLog, onQuestion }: Handlers): JsonObject {
  return {
    [`${META}protocolVersion`]: REVISIONS.modern,
    [`${META}clientInfo`]: clientInfo,
    [`${META}clientCapabilities`]: { ...(onQuestion === undefined ? {} : ANSWERS), ...EXPERIMENTAL },
    ...(onLog === undefined ? {} : { [`${META}logLevel`]: 'debug' }),
    ...(onProgress === undefined ? {} : { progressToken: id })
  }
}

function factsOf ({ _meta, capabilities, instructions }: JsonObject): ServerFacts {
  const info = isObject(_meta) ? _meta[`${META}serverInfo`] : undefined
  return {
    ...namesOf(info),
    revision: REVISIONS.modern,
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === 'string' ? { instructions } : {})
  }
}
