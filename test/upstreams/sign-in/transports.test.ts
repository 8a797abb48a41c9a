import t from 'tap'
import { createClient } from '../../../app.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'
import type { Way } from '../fixture/open.js'
import { loggedGateway, openPlace, signIn } from './place.js'

for (const way of ['HTTP', 'HTTP+SSE', 'WebSocket'] as Way[]) {
  t.test(`a sign-in and its renewal count over ${way}`, async t => {
    const place = await openPlace(t, { way })
    const { app } = await loggedGateway(t, place.options)
    await until(() => app.mcp.upstreams.status()[0]?.state === 'needs sign-in')
    await signIn(app, place.options)
    await upstreamsReady(app, ['linear'])
    const { server, issuer, withdrawn } = place
    for (const token of server.tokens) withdrawn.add(token)
    // A WebSocket shows its token once.
    const { app: second } = way === 'WebSocket' ? await loggedGateway(t, place.options) : { app }
    if (way === 'WebSocket') await upstreamsReady(second, ['linear'])
    const client = await createClient(second)
    t.match(await client.request('tools/call', { name: 'linear__echo', arguments: { text: 'hello' } }), {
      content: [{ text: /hello/ }]
    })
    t.same(issuer.granted, ['authorization_code', 'refresh_token'])
  })
}
