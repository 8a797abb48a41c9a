import { meta, type Json } from '../../support/specification/message.js'
import { modern, newestLegacy, revisions } from '../../support/specification/revisions.js'
import type { Chapter } from '../cell.js'

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {}
}

/** The handshake, or `server/discover` where there is no handshake. */
export const opening: Record<string, Chapter> = {
  'has its version and its capabilities': async (t, { client: { opening: { result = {} } }, revision }) => {
    const capabilities = {
      ...CAPABILITIES,
      ...(revision.audio ? { completions: {} } : {}),
      [revision.modern ? 'extensions' : 'experimental']: {
        ...(revision.modern ? { 'io.modelcontextprotocol/tasks': {} } : {}),
        'patchbay/watch': {}
      },
      ...(revision === newestLegacy ? { tasks: { cancel: {}, requests: { tools: { call: {} } } } } : {})
    }
    t.strictSame(result.capabilities, capabilities)
    if (revision.modern) t.strictSame(result.supportedVersions, revisions.map(({ version }) => version).reverse())
    else t.match(result, { protocolVersion: revision.version, serverInfo: { name: 'mcp-patchbay', version: String } })
  },

  'puts on every result what its revision requires, and nothing of it before': async (t, { client, revision }) => {
    const { result = {} } = await client.request('tools/list')
    t.equal(['resultType', 'ttlMs', 'cacheScope', '_meta'].some(key => key in result), revision.modern)
    if (!revision.modern) return
    t.match(result, { resultType: 'complete', ttlMs: Number, cacheScope: /^(public|private)$/ })
    t.match((result._meta as Json)[meta.serverInfo], { name: 'mcp-patchbay', version: String })
  },

  'answers ping until the revision that has none': async (t, { client, revision }) => {
    const { result, error } = await client.request('ping')
    if (revision.modern) t.equal(error?.code, -32601)
    else t.strictSame(result, {})
  },

  'knows the methods of its own era only': async (t, { client, revision, transport }) => {
    const foreign = revision.modern
      ? ['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']
      : ['server/discover', 'subscriptions/listen']
    for (const method of [...foreign, 'no/such/method']) {
      const { error, status } = await client.request(method, { uri: 'test://text', level: 'info', notifications: {} })
      t.equal(error?.code, -32601, method)
      if (transport.http) t.equal(status, revision.unknownMethodStatus, `the status of ${method}`)
    }
  },

  'offers what it has to a client of an unknown version': async (t, { client, connect, revision, transport }) => {
    if (revision.modern) {
      const { error, status } = await client.request('tools/list', {}, { as: { ...modern, version: '2099-01-01' } })
      t.match(error, {
        code: -32022,
        data: { requested: '2099-01-01', supported: revisions.map(({ version }) => version).reverse() }
      })
      if (transport.http) t.equal(status, 400)
    } else if (!transport.costly) {
      const other = await connect(t, { handshake: false })
      const { result } = await other.request(
        'initialize',
        { protocolVersion: '1999-01-01', capabilities: {} },
        { as: newestLegacy }
      )
      t.equal(result?.protocolVersion, newestLegacy.version)
    }
  },

  'wants the handshake first where there is one': async (t, { connect, revision, transport }) => {
    if (transport.costly) return
    const early = await connect(t, { handshake: false })
    const { result, error, status } = await early.request('tools/list')
    const needed = !revision.modern && transport.remembers
    t.equal(result === undefined, needed)
    t.equal(error?.code, needed ? -32600 : undefined)
    if (transport.http) t.equal(status, needed ? 400 : 200)
  },

  'serves requests that describe themselves on the same connection': async (t, { client, revision }) => {
    const { result } = await client.request(
      'tools/call',
      { name: 'echo', arguments: { text: 'from the other era' } },
      { as: modern }
    )
    t.match(result, { resultType: 'complete', structuredContent: { text: 'from the other era' } })
    const after = await client.request('tools/list')
    t.equal('resultType' in (after.result ?? {}), revision.modern, 'and goes on in its own')
  }
}
