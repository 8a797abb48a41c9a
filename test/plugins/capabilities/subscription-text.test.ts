import t from 'tap'
import { modernMeta } from '../../support/modern.js'
import { gateway } from '../../support/gateway.js'
import { client } from '../../support/recorder.js'

const uri = (name: string, length: number) => `test://item/${name}`.padEnd(length, 'x')

t.test('the subscriptions of a client have at most maxSubscriptionText characters together', async t => {
  const { mcp } = await gateway(t, { limits: { maxSubscriptionText: 100 } })
  const { ask, channel } = client(mcp.dispatcher, { transport: 'websocket' })
  const send = async (method: string, params: object) => { ask(method, params); return await channel.next() }
  t.match(await send('resources/subscribe', { uri: uri('a', 60) }), { result: {} })
  t.match(await send('resources/subscribe', { uri: uri('a', 60) }), { result: {} }, 'the same counts once')
  const refused = { error: { code: -32602, message: /at most 100 characters together \(limit maxSubscriptionText\)/ } }
  t.match(await send('resources/subscribe', { uri: uri('b', 60) }), refused)
  t.match(
    await send('subscriptions/listen', {
      _meta: modernMeta(),
      notifications: { resourceSubscriptions: [uri('b', 60)] }
    }),
    refused,
    'in either era'
  )
  t.match(await send('resources/unsubscribe', { uri: uri('a', 60) }), { result: {} })
  t.match(await send('resources/subscribe', { uri: uri('b', 60) }), { result: {} }, 'and there is room again')
})
