import { join } from 'node:path'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { build, createClient, patchbay, type Options } from '../../../app.js'
import { folder } from '../../support/process.js'
import { environment } from '../../support/environment/display.js'

const NAMES = ['get_clipboard', 'set_clipboard']

async function app (t: Test, options: Partial<Options> = {}) {
  const app = await build({ grace: 100, ...options })
  t.teardown(async () => await app.close())
  await app.ready()
  return app
}

type App = Awaited<ReturnType<typeof app>>
const served = ({ mcp: { tools } }: App): string[] => NAMES.filter(name => tools.get(name) !== undefined)
const reasons = ({ mcp: { unavailable } }: App): Array<string | undefined> => NAMES.map(name => unavailable.get(name))

t.test('who may use the clipboard', async t => {
  // With a display there is no other reason why it could not be had.
  t.teardown(environment({ DISPLAY: ':64999' }))

  const LOCAL: Record<string, Partial<Options>> = {
    'on loopback': {},
    'on another address of loopback': { host: '127.0.0.2' },
    'on loopback of IPv6': { host: '::1' },
    'on localhost': { host: 'localhost' },
    'without HTTP': { http: false, host: '0.0.0.0' },
    'where the options allow it': { host: '0.0.0.0', clipboard: { remote: true } }
  }
  for (const [title, options] of Object.entries(LOCAL)) {
    t.test(`${title} it is served`, async t => {
      const gateway = await app(t, options)
      t.strictSame(served(gateway), NAMES)
      t.strictSame(reasons(gateway), [undefined, undefined])
    })
  }

  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'mcp.example.com', '127.0.0.1.example.com']) {
    t.test(`on ${host} it is not served, and the reason is given`, async t => {
      const gateway = await app(t, { host })
      t.strictSame(served(gateway), [])
      t.match(reasons(gateway), [/Other machines.*\{"remote":true\}.*127\.0\.0\.1/, /Other machines/])
      const { request } = await createClient(gateway)
      await t.rejects(request('tools/call', { name: 'get_clipboard' }), {
        code: -32602,
        message: /Unknown tool: get_clipboard/
      })
    })
  }

  t.test('the address on which the application listens decides, whatever the options are', async t => {
    const path = join(await folder(t, {}), 'socket')
    for (const place of [
      { host: '127.0.0.1', port: 0 },
      { host: 'localhost', port: 0 },
      ...(process.platform === 'win32' ? [] : [{ path }])
    ]) {
      const gateway = await app(t)
      await gateway.listen(place)
      t.strictSame(served(gateway), NAMES, JSON.stringify(place))
    }
    const gateway = await app(t)
    const client = await createClient(gateway)
    await gateway.listen({ port: 0, host: '0.0.0.0' })
    await client.notified('notifications/tools/list_changed')
    t.strictSame(served(gateway), [])
    t.match(reasons(gateway), [/Other machines/, /Other machines/])
  })

  t.test('the same holds inside another application, unless the options allow it', async t => {
    for (const remote of [false, true]) {
      const host = Fastify()
      t.teardown(async () => await host.close())
      await host.register(patchbay, { prefix: '/ai', grace: 100, tools: true, clipboard: { remote } })
      await host.listen({ port: 0, host: '0.0.0.0' })
      t.strictSame(served(host), remote ? NAMES : [])
    }
  })
})

t.test(
  'without a display the tools are there, and it is known that they do not work',
  { skip: process.platform !== 'linux' && 'a display is what Linux needs' },
  async t => {
    t.teardown(environment({}))
    const gateway = await app(t)
    t.strictSame(served(gateway), NAMES)
    t.match(reasons(gateway), [/^No display environment available\. .*Xvfb/, /^No display/])
    t.equal(gateway.mcp.clipboard.obstacle(), reasons(gateway)[0])
  }
)
