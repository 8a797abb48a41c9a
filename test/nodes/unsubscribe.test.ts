import t from 'tap'
import { resource } from '../../app.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { listening } from '../support/gateway.js'
import { HttpSession, openSession } from '../support/http-session.js'

t.test('a client that unsubscribes at another node hears no more of the resource', async t => {
  const data = await dataFolder(t)
  const nodes = [await listening(t, { data }), await listening(t, { data })] as const
  for (const { app } of nodes) {
    for (const uri of ['test://one', 'test://two']) app.mcp.resources.add(resource({ uri, name: uri, read: () => '' }))
  }
  const touch = (uri: string): void => { for (const { app } of nodes) app.mcp.resources.updated(uri) }
  const [home, other] = nodes
  const session = await openSession(home.url)
  const elsewhere = new HttpSession(other.url, session.id)
  const stream = await session.listen()
  for (const uri of ['test://one', 'test://two']) {
    t.match((await session.post({ id: uri, method: 'resources/subscribe', params: { uri } })).body, { result: {} })
  }
  for (const uri of ['test://one', 'test://two']) {
    touch(uri)
    t.match(await stream.message(), { method: 'notifications/resources/updated', params: { uri } })
  }
  t.match((await elsewhere.post({ id: 3, method: 'resources/unsubscribe', params: { uri: 'test://one' } })).body, {
    result: {}
  })
  touch('test://one')
  touch('test://two')
  t.match(await stream.message(), { params: { uri: 'test://two' } })
})
