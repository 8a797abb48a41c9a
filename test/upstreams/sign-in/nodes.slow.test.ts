import t from 'tap'
import { createClient } from '../../../app.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { loggedGateway, openPlace, signIn } from './place.js'

t.test('three nodes on Redis share a sign-in, and renew it once', withRedis, async t => {
  const { url } = await redisServer(t)
  const place = await openPlace(t)
  const options = { ...place.options, redis: url, secret: 'a secret of all nodes' }
  const nodes = await Promise.all([1, 2, 3].map(async () => (await loggedGateway(t, options)).app))
  const [first] = nodes
  if (first === undefined) return
  await signIn(first, options)
  await Promise.all(nodes.map(async app => await upstreamsReady(app, ['linear'])))
  const clients = await Promise.all(nodes.map(async app => await createClient(app)))
  for (const token of place.server.tokens) place.withdrawn.add(token)
  const call = { name: 'linear__echo', arguments: { text: 'hello' } }
  await Promise.all(clients.flatMap(client => [1, 2].map(async () => await client.request('tools/call', call))))
  t.same(place.issuer.granted, ['authorization_code', 'refresh_token'])
  t.same(place.issuer.refused, [])
})

t.test('in Redis, a sign-in needs the option secret', withRedis, async t => {
  const { url } = await redisServer(t)
  const place = await openPlace(t)
  const options = { ...place.options, redis: url }
  const { app } = await loggedGateway(t, options)
  await t.rejects(signIn(app, options), { message: /sealed with the option secret, which is not set/ })
})
