import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { gateway } from '../support/gateway.js'
import { modernMeta } from '../support/modern.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const LENGTH = 1_000_000
const CALLS = 60

/** The bytes that stay after a number of calls, each with another long text. */
async function kept (of: (text: string) => Promise<unknown>): Promise<number> {
  await of('warm'.repeat(20))
  collect()
  const before = getHeapStatistics().used_heap_size
  for (let index = 0; index < CALLS; index++) await of(`${index} ${'x'.repeat(LENGTH)}`)
  collect()
  return getHeapStatistics().used_heap_size - before
}

const MOST = 10 * LENGTH

t.test('of a long name of a client nothing but the beginning stays, whatever remembers it', async t => {
  const app = await gateway(t, { tools: false, allowAnonymous: true })
  const call = async (name: string): Promise<void> => {
    const { statusCode } = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list'
      },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: { _meta: { ...modernMeta(), 'io.modelcontextprotocol/clientInfo': { name, version: '1' } } }
      }
    })
    t.equal(statusCode, 200)
  }
  const bytes = await kept(call)
  t.ok(bytes < MOST, `${bytes} bytes`)
})
