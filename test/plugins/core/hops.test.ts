import t from 'tap'
import type { Call } from '../../../protocol/dispatch/call.js'
import { GATEWAY_META } from '../../../protocol/wire/meta.js'
import { PreparedResult } from '../../../protocol/wire/result.js'
import { gateway } from '../../support/gateway.js'

t.test('a result that a gateway gets keeps the _meta that it has', async t => {
  const { mcp: { hops } } = await gateway(t)
  const call = { meta: { [GATEWAY_META.gateway]: true } } as unknown as Call
  const result = { tools: [], _meta: { 'example.org/x': 1 } }
  const marked = { tools: [], _meta: { 'example.org/x': 1, [GATEWAY_META.hops]: [] } }
  t.strictSame(hops.mark(call, result), marked)
  t.strictSame(hops.mark(call, new PreparedResult(JSON.stringify(result))), marked)
  t.strictSame(result._meta, { 'example.org/x': 1 }, 'the result itself stays')
  t.strictSame(hops.mark(call, { tools: [] }), { tools: [], _meta: { [GATEWAY_META.hops]: [] } })
})
