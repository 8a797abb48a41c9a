import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool, type Options } from '../../app.js'
import { onSharedStores } from '../support/environment/nodes.js'
import { listening } from '../support/gateway.js'
import { ADA, BOB, bearer, listed } from '../support/keys.js'
import { modernMeta } from '../support/modern.js'
import type { Json } from '../support/specification/message.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { until } from '../support/wait.js'
import { openFixture } from '../upstreams/fixture/open.js'

interface Node { app: FastifyInstance, url: string }
interface Reply { result: Json, error?: { code: number, message: string } }

const VIEW = 'short'
const ACCEPT = { action: 'accept', content: { name: 'Ada' } }
const LONG = 'long '.repeat(1_000)

const views: Options['views'] = {
  short: {
    tools: ['old__*', 'young__*', 'long'],
    names: 'short',
    override: { old__echo: { name: 'repeat', arguments: { text: { name: 'words' } } } },
    results: { max: 1_000, keep: 60_000 }
  },
  brief: { tools: ['long'], results: { max: 1_000, keep: 1_000 } },
  found: { search: true, names: 'short', tools: ['old__*', 'young__*'] }
}

const plugins: Options['plugins'] = [async ({ mcp }) => {
  mcp.tools.add(tool({ name: 'long', description: 'Long', run: () => LONG }))
}]

/** Two nodes with the same views in front of the same servers, one of each era. */
async function nodesOf (t: Test, shared: Partial<Options>): Promise<[Node, Node]> {
  const servers = await Promise.all([openFixture(t, 'HTTP', newestLegacy, 'old'), openFixture(t, 'HTTP', modern, 'young')])
  const mcpServers = Object.fromEntries(servers.map(({ server, entry }) => [server.name, entry]))
  const options = { tools: false, pageSize: 3, views, plugins, ...shared, mcpServers }
  const nodes = [await listening(t, options), await listening(t, options)] as [Node, Node]
  for (const { app } of nodes) await upstreamsReady(app, ['old', 'young'])
  return nodes
}

/** Sends a request to a view of a node: in a session where the headers name one, else as a stateless client does. */
async function ask ({ url }: Node, view: string, method: string, given: Json, more: Record<string, string> = {}) {
  const isLegacy = method === 'initialize' || 'mcp-session-id' in more
  const name = given.name ?? given.uri
  const headers = isLegacy
    ? more
    : { 'mcp-protocol-version': modern.version, 'mcp-method': method, ...(name !== undefined && { 'mcp-name': String(name) }), ...more }
  const params = isLegacy ? given : { ...given, _meta: modernMeta({ elicitation: {} }) }
  const response = await fetch(`${url}/mcp${view === '' ? '' : `/${view}`}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  })
  const text = await response.text()
  const { result, error } = JSON.parse(text.replace(/^[^]*?^data: (?=\{)/m, '').trim()) as Reply
  return { status: response.status, session: response.headers.get('mcp-session-id') ?? '', result, error }
}

const INITIALIZE = { protocolVersion: newestLegacy.version, capabilities: {}, clientInfo: { name: 'test', version: '1' } }

async function openAt (node: Node, view: string, headers = {}): Promise<Record<string, string>> {
  const { session } = await ask(node, view, 'initialize', INITIALIZE, headers)
  return { ...headers, 'mcp-session-id': session }
}

const firstText = ({ content }: Json): string => String((content as Json[])[0]?.text)

onSharedStores(t, (t, share) => {
  t.test('a session of a view is used at any node, page by page, with short names and overrides', async t => {
    const nodes = await nodesOf(t, await share(t))
    const [one, two] = nodes
    const session = await openAt(one, VIEW)
    const found: Record<string, string[]> = { here: [], there: [] }
    for (const [way, first] of [['here', 0], ['there', 1]] as const) {
      let cursor: unknown
      for (let page = 0; page === 0 || cursor !== undefined; page++) {
        const node = nodes[way === 'here' ? 0 : (first + page) % 2] as Node
        const { result } = await ask(node, VIEW, 'tools/list', cursor === undefined ? {} : { cursor }, session)
        found[way]?.push(...(result.tools as Json[]).map(({ name }) => String(name)))
        cursor = result.nextCursor
        if (page !== 0) continue
        t.match(await ask(two, 'brief', 'tools/list', { cursor }), { error: { code: -32602 } }, 'in another view')
      }
    }
    t.strictSame(found.there, found.here)
    t.ok(found.here?.includes('repeat') && found.here.includes('old__steps') && found.here.includes('region') === false)
    for (const node of nodes) {
      const { result } = await ask(node, VIEW, 'tools/call', { name: 'repeat', arguments: { words: 'é' } }, session)
      t.equal(firstText(result), 'é')
    }
    t.equal((await ask(two, 'brief', 'tools/list', {}, session)).status, 404, 'no session of another view')
  })

  t.test('a result that one node shortened is read whole at the other, in its view, until its time is over', async t => {
    const [one, two] = await nodesOf(t, await share(t))
    for (const view of [VIEW, 'brief']) {
      const session = await openAt(one, view)
      const { result } = await ask(one, view, 'tools/call', { name: 'long' }, session)
      const uri = String((result.content as Json[]).find(({ type }) => type === 'resource_link')?.uri)
      const read = async (where: string): ReturnType<typeof ask> =>
        await ask(two, where, 'tools/call', { name: 'read_result', arguments: { id: uri } })
      if (view === VIEW) {
        t.equal(firstText((await read(view)).result).startsWith(LONG.slice(0, 900)), true)
        t.match((await ask(two, view, 'resources/read', { uri }, session)).result, { contents: [{ text: LONG }] })
        t.match((await read('brief')).result, { isError: true }, 'not in another view')
      } else {
        await until(async () => (await read(view)).result?.isError === true, 'the end of its time')
        t.match(firstText((await read(view)).result), /There is no result/)
        t.match(await ask(two, view, 'resources/read', { uri }, session), { error: { message: /not found/i } })
      }
    }
  })

  t.test('a search finds the same at every node, and a question by call_tool is answered at another', async t => {
    const [one, two] = await nodesOf(t, await share(t))
    for (const args of [{ query: 'echo' }, { query: 'ask twice', detail: 'full' }, { query: 'the tool', limit: 50 }]) {
      const [here, there] = await Promise.all([one, two].map(async node =>
        (await ask(node, 'found', 'tools/call', { name: 'find_tools', arguments: args })).result))
      t.ok(firstText(here as Json).length > 10)
      t.strictSame(there, here, args.query)
    }
    for (const server of ['old', 'young']) {
      const params = { name: 'call_tool', arguments: { name: `${server}__ask_form`, arguments: {} } }
      const call = async (node: Node, round: Json = {}): Promise<Json> =>
        (await ask(node, 'found', 'tools/call', { ...params, ...round })).result
      const { resultType, requestState, inputRequests } = await call(one)
      t.equal(resultType, 'input_required', server)
      const inputResponses = Object.fromEntries(Object.keys(inputRequests as Json).map(key => [key, ACCEPT]))
      t.match(firstText(await call(two, { requestState, inputResponses })), /Ada/)
    }
  })

  t.test('a key that is bound to a view has it at every node, and nothing where the view is gone', async t => {
    const apiKeys = [listed('ada', ADA, ['mcp'], { view: 'brief' }), listed('bob', BOB, ['mcp'], { view: 'gone' })]
    const nodes = await nodesOf(t, { ...await share(t), apiKeys })
    const [one, two] = nodes
    const session = await openAt(one, '', bearer(ADA))
    const toolsAt = async (node: Node, headers: Record<string, string>): Promise<unknown> =>
      (await ask(node, '', 'tools/list', {}, headers)).result?.tools
    for (const node of nodes) {
      t.match(await toolsAt(node, session), [{ name: 'long' }, { name: 'read_result' }])
      t.equal((await ask(node, VIEW, 'tools/list', {}, bearer(ADA))).status, 403)
      t.strictSame(await toolsAt(node, await openAt(one, '', bearer(BOB))), [], 'there is no such view')
    }
    const { brief, ...rest } = views
    for (const { app } of nodes) await app.mcp.curation.configure(rest)
    for (const headers of [session, bearer(ADA)]) {
      t.strictSame(await toolsAt(two, headers), [])
      t.match(await ask(two, '', 'tools/call', { name: 'long' }, headers), { error: { message: /Unknown tool: long$/ } })
    }
    await one.app.mcp.curation.configure(views)
    t.match(await toolsAt(one, session), [{ name: 'long' }, { name: 'read_result' }], 'and where it is back')
    t.equal((await ask(one, '', 'tools/list', {})).status, 401, 'without a key nothing is served')
  })
})
