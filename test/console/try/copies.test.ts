import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { tool } from '../../../app.js'
import type { Era } from '../../../console/client/contract.js'
import { asClientConfig, asCurl, asJsonRpc } from '../../../console/try/use/copies.js'
import fixture, { listening } from '../../support/gateway.js'
import type { FastifyInstance } from 'fastify'

const run = promisify(execFile)

const mirrored = tool({
  name: 'work',
  description: 'd',
  input: Type.Object({ place: Type.String({ 'x-mcp-header': 'Place' }) }),
  run: ({ place }) => place
})
const plugin = async (fastify: FastifyInstance) => { fastify.mcp.tools.add(mirrored) }

t.test('the copied command makes the same call, in both eras, whatever the arguments are', async t => {
  const { url } = await listening(t, { plugins: [fixture, plugin] })
  const text = 'it\'s "quoted" $HOME `id` \\ ü\n'
  for (const era of ['legacy', 'modern'] as Era[]) {
    const command = asCurl(
      'tools/call',
      { name: 'echo', arguments: { text } },
      { era, url: `${url}/mcp`, needsKey: false }
    )
    const { stdout } = await run('sh', ['-c', command])
    t.match(JSON.parse(stdout), { id: 1, result: { structuredContent: { text } } }, era)
  }
  const inputSchema = { properties: { place: { type: 'string', 'x-mcp-header': 'Place' } } }
  const { stdout } = await run('sh', [
    '-c',
    asCurl(
      'tools/call',
      { name: 'work', arguments: { place: 'Zürich' } },
      { era: 'modern', url: `${url}/mcp`, needsKey: false, inputSchema }
    )
  ])
  t.match(JSON.parse(stdout), { result: { content: [{ text: 'Zürich' }] } })
})

t.test('a key is taken from a variable', async t => {
  t.match(
    asCurl('tools/list', {}, { era: 'legacy', url: 'https://h/p/mcp', needsKey: true }),
    /^curl -sS 'https:\/\/h\/p\/message' \\\n {2}-H "Authorization: Bearer \$PATCHBAY_KEY"/
  )
  t.match(JSON.parse(asClientConfig('https://h/mcp', true)), {
    mcpServers: {
      patchbay: {
        url: 'https://h/mcp',
        headers: { Authorization: 'Bearer ${PATCHBAY_KEY}' } // eslint-disable-line no-template-curly-in-string
      }
    }
  })
  t.notMatch(asClientConfig('http://h/mcp', false), /Authorization/)
})

t.test('the copied message is complete for its era', async t => {
  t.strictSame(JSON.parse(asJsonRpc('legacy', 'tools/call', { name: 'x' })), {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'x' }
  })
  t.match(JSON.parse(asJsonRpc('modern', 'tools/call', { name: 'x' })), {
    params: { name: 'x', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
  })
})
