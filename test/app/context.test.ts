import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { tool } from '../../app.js'
import { host, modernPost } from '../support/host.js'

t.test('what a host keeps for one request is never seen by another, however many come at once', async t => {
  const tenants = new AsyncLocalStorage<unknown>()
  const wrong: unknown[] = []
  const app = await host(t, app => {
    app.addHook('onRequest', (request, _reply, done) => tenants.run(request.headers['x-tenant'], done))
    app.addHook('onSend', (request, _reply, payload, done) => {
      if (tenants.getStore() !== request.headers['x-tenant']) {
        wrong.push([request.headers['x-tenant'], tenants.getStore()])
      }
      done(null, payload)
    })
  })
  app.mcp.tools.add(tool({ name: 'at_once', description: 'Names the tenant', run: () => String(tenants.getStore()) }))
  app.mcp.tools.add(
    tool({
      name: 'later',
      description: 'Names the tenant',
      run: async () => {
        await new Promise(setImmediate)
        return String(tenants.getStore())
      }
    })
  )
  for (const name of ['at_once', 'later']) {
    const answers = await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const post = modernPost(name, {})
      const { body } = await app.inject({ ...post, headers: { ...post.headers, 'x-tenant': `tenant-${index}` } })
      return /tenant-\d+/.exec(body)?.[0]
    }))
    t.strictSame(answers, Array.from({ length: 20 }, (_, index) => `tenant-${index}`), name)
  }
  t.strictSame(wrong, [], 'hooks see it, too')
})
