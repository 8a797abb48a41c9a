import type { FastifyInstance } from 'fastify'
import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { createClient, tool, type Options } from '../../app.js'
import { ADA, apiKeys, BOB } from '../support/keys.js'
import { callTool } from '../support/messages.js'
import { startServer, type Server } from '../support/server.js'
import { transports, type TransportName } from '../support/transports.js'
import { until } from '../support/wait.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { visit } from './support/visit.js'

const WATCH = '/console/#/watch'

async function watching (
  t: Test,
  options: Partial<Options> = {}
): Promise<{ server: Server, app: FastifyInstance, url: string, page: Page }> {
  const server = await startServer(t, { console: true, ...options })
  const url = urlOf(server)
  const page = await visit(t, url, { path: WATCH })
  await section(page, 'Health')
    .getByText(/up for/)
    .waitFor()
  return { server, app: server.app, url, page }
}

const urlOf = ({ port }: Server): string => `http://127.0.0.1:${port}`

const section = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true })
const calls = (page: Page): Locator => section(page, 'Calls').getByRole('listitem')
const tile = (page: Page, name: string): Locator =>
  page.locator('.watch-tile').filter({ has: page.getByText(name, { exact: true }) })
const echo = callTool('echo', { text: 'private words' })

/** A tool that tells how far it is, and then waits until it is released. */
function held () {
  let release = (): void => {}
  const released = new Promise<void>(resolve => { release = resolve })
  const plugin = async (app: FastifyInstance): Promise<void> => {
    app.mcp.tools.add(tool({
      name: 'hold',
      description: 'Waits',
      run: async (_input, call) => {
        call.progress(3, 4)
        await released
        return 'done'
      }
    }))
  }
  return { plugin, release }
}

t.test('calls over each transport appear, and all numbers agree', withBrowser, async t => {
  const { server, app, page } = await watching(t)
  const names: TransportName[] = ['stateless', 'session', 'websocket', 'stdio 2026']
  for (const name of names) {
    const client = await transports[name](server)
    t.match(await client.send(echo), /ok/, name)
    await client.close()
  }
  const other = await createClient(app)
  t.teardown(() => other.close())
  await other.call('refuse').catch(() => {})
  const shown = calls(page).filter({ hasText: 'echo' })
  for (const words of ['http · 2026-07-28', 'http · 2025-11-25', 'websocket · 2025-11-25', 'stdio · 2026-07-28']) {
    await shown.filter({ hasText: words }).waitFor()
  }
  t.equal(await shown.count(), names.length)
  await calls(page).filter({ hasText: 'refuse' }).filter({ hasText: 'failed' }).waitFor()
  const row = section(page, 'Tools').getByRole('row').filter({ hasText: 'echo' })
  await row.getByRole('cell', { name: String(names.length), exact: true }).waitFor()
  await section(page, 'Tools').getByRole('row').filter({ hasText: 'refuse' }).getByText('1 (100 %)').waitFor()
  await tile(page, 'Errors').getByText(/^1 of \d+, since /).waitFor()
  t.notMatch(await page.locator('body').textContent(), /private words/)
  await checkAccessibility(t, page, 'Watch')
})

t.test('clients are told in full on a narrow page, without scrolling sideways', withBrowser, async t => {
  const { page } = await watching(t)
  await page.setViewportSize({ width: 320, height: 800 })
  const row = section(page, 'Connected clients').getByRole('listitem').filter({ hasText: 'this page' })
  await row.getByText('websocket · 2026-07-28').waitFor()
  await row.getByText(/^connected .*, \d+ in flight, /).waitFor()
  const [room, wanted] = (await section(page, 'Connected clients').evaluate(({ clientWidth, scrollWidth }) => [
    clientWidth,
    scrollWidth
  ])) as [number, number]
  t.ok(wanted <= room, `${wanted} of ${room} px`)
})

t.test('a call in flight shows its age and its progress, and goes when it ends', withBrowser, async t => {
  const { plugin, release } = held()
  t.teardown(release)
  const { app, page } = await watching(t, { plugins: [plugin] })
  const client = await createClient(app)
  t.teardown(() => client.close())
  const result = client.request('tools/call', { name: 'hold', arguments: {}, _meta: { progressToken: 1 } })
  const row = section(page, 'In flight').getByRole('listitem').filter({ hasText: 'hold' })
  await row.getByText('75 %').waitFor()
  await row.getByText(/^for \d+ s$/).waitFor()
  release()
  await result
  await row.waitFor({ state: 'detached' })
  await calls(page).filter({ hasText: 'hold' }).filter({ hasText: 'ok' }).waitFor()
})

t.test('the list of calls stays as it is while it is read, and can be filtered', withBrowser, async t => {
  const { app, page } = await watching(t)
  const client = await createClient(app)
  t.teardown(() => client.close())
  await client.call('echo', { text: 'one' })
  await calls(page).filter({ hasText: 'echo' }).waitFor()
  await section(page, 'Calls that have ended').focus()
  const before = await calls(page).count()
  await client.call('refuse').catch(() => {})
  await client.call('echo', { text: 'two' })
  const news = page.getByRole('button', { name: '2 new calls: show' })
  await news.waitFor()
  t.equal(await calls(page).count(), before)
  await news.click()
  await calls(page).filter({ hasText: 'refuse' }).waitFor()
  await page.getByLabel('Outcome').selectOption('failed')
  await calls(page).filter({ hasText: 'echo' }).first().waitFor({ state: 'detached' })
  t.equal(await calls(page).count(), 1)
  await page.getByLabel('Outcome').selectOption('all')
  await page.getByLabel('Filter').fill('no such tool')
  await section(page, 'Calls').getByText('None of the calls fits.').waitFor()
})

t.test('what is refused is told in words', withBrowser, async t => {
  const { url, page } = await watching(t)
  await section(page, 'Refusals').getByText(/Nothing was refused since the gateway started at/).waitFor()
  const { status } = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { origin: 'http://elsewhere.example', 'content-type': 'application/json' },
    body: '{}'
  })
  t.equal(status, 403)
  const row = section(page, 'Refusals')
    .getByRole('listitem')
    .filter({ hasText: 'A host or origin that is not allowed' })
  await row.getByText('status 403').waitFor()
  await row.getByText('1 time', { exact: true }).waitFor()
})

t.test('an upstream that fails shows why, and what it wrote last', withBrowser, async t => {
  const broken = {
    command: process.execPath,
    args: ['-e', 'console.error("cannot open the database"); process.exit(3)']
  }
  const { page } = await watching(t, { mcpServers: { broken } })
  const row = section(page, 'Upstreams').getByRole('listitem').filter({ hasText: 'broken' })
  await row.getByText(/Reason: /).waitFor()
  await row.getByText(/Its last (line|\d+ lines) of standard error/).click()
  await row.getByText('cannot open the database').waitFor()
})

t.test('a change of health is shown in words and announced', withBrowser, async t => {
  const { app, page } = await watching(t)
  app.mcp.health.report('search', 'the search service is away')
  await section(page, 'Health').getByText('Degraded: calls are answered, but something does not work').waitFor()
  await section(page, 'Health').getByText('the search service is away').waitFor()
  await page.getByRole('status').getByText('Health of the gateway: Degraded').waitFor()
  app.mcp.health.report('search', undefined)
  await section(page, 'Health').getByText('Healthy').waitFor()
})

t.test('a page that is left watches no more, and one in the other era watches as well', withBrowser, async t => {
  const { app, page } = await watching(t)
  // One more is told of servers that fail, in every view.
  const watchers = (): number =>
    app.mcp.dispatcher.callsInFlight().filter(({ method }) => method === 'patchbay/watch').length
  t.equal(watchers(), 2)
  await page.getByLabel('Protocol revision').selectOption({ label: '2025-11-25' })
  await until(
    () =>
      app.mcp.dispatcher
        .callsInFlight()
        .some(({ method, revision }) => method === 'patchbay/watch' && revision.version === '2025-11-25'),
    'the watch of the new connection'
  )
  const client = await createClient(app)
  t.teardown(() => client.close())
  await client.call('echo', { text: 'x' })
  await calls(page).filter({ hasText: 'echo' }).waitFor()
  t.equal(watchers(), 2)
  await page.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('link', { name: 'Watch' }).waitFor()
  await until(() => watchers() === 1)
})

t.test('only a caller with scope admin is offered to watch', withBrowser, async t => {
  const url = urlOf(await startServer(t, { console: true, apiKeys }))
  for (const [key, links] of [[ADA, 0], [BOB, 1]] as const) {
    const page = await visit(t, url)
    await page.getByLabel('API key').fill(key)
    await page.getByLabel('API key').press('Enter')
    await page.getByText('Connected', { exact: true }).first().waitFor()
    t.equal(await page.getByRole('link', { name: 'Watch' }).count(), links)
    await page.evaluate("location.hash = '#/watch'")
    await (
      links === 0 ? page.getByText('This gateway does not let you watch') : section(page, 'Health').getByText('Healthy')
    ).waitFor()
  }
})
