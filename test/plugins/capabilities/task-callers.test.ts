import { PassThrough } from 'node:stream'
import { createInterface } from 'node:readline'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { serveStdio, tool } from '../../../app.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { gateway } from '../../support/gateway.js'
import { ADA, apiKeys, bearer, BOB } from '../../support/keys.js'
import { modernMeta, type Json } from '../../support/modern.js'

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const UNKNOWN = { error: { code: -32602 } }

/** Creates a task as a client over stdio, with this identity. */
async function createOverStdio (t: Test, app: FastifyInstance, identity?: Identity): Promise<string> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  serveStdio(app.mcp, { input, output, maxMessage: 1024 * 1024, ...(identity !== undefined && { identity }) })
  t.teardown(() => { input.end() })
  const lines = createInterface({ input: output })
  const answer = new Promise<string>(resolve => { lines.once('line', resolve) })
  const params = { name: 'it', arguments: {}, _meta: modernMeta(CAPABILITIES) }
  input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
  const { result } = JSON.parse(await answer) as { result: Json }
  t.equal(result.resultType, 'task')
  return String(result.taskId)
}

/** The answer to `tasks/get` over HTTP. */
async function getOverHttp (app: FastifyInstance, taskId: string, headers: Record<string, string> = {}): Promise<Json> {
  return (await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tasks/get', 'mcp-name': taskId, ...headers },
    payload: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId, _meta: modernMeta(CAPABILITIES) } }
  })).json()
}

const withTool = {
  plugins: [async (app: FastifyInstance) => {
    app.mcp.tools.add(tool({ name: 'it', description: 'd', task: 'must', run: () => 'done' }))
  }]
}

t.test('a task that is made over stdio is there over HTTP for the same caller, and unknown to any other', async t => {
  const app = await gateway(t, { ...withTool, apiKeys })
  const taskId = await createOverStdio(t, app, { principal: 'key:ada', scopes: 'all' })
  t.match(await getOverHttp(app, taskId, bearer(ADA)), { result: { taskId, resultType: 'complete' } })
  t.match(await getOverHttp(app, taskId, bearer(BOB)), UNKNOWN)
  const nameless = await createOverStdio(t, app)
  t.match(await getOverHttp(app, nameless, bearer(ADA)), UNKNOWN, 'what belongs to no name is no one else\'s')
})

t.test('callers without a name share what they have the id of, over stdio and HTTP', async t => {
  const app = await gateway(t, withTool)
  const taskId = await createOverStdio(t, app)
  t.match(await getOverHttp(app, taskId), { result: { taskId } })
})
