import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { resource, tool, Type } from '../../app.js'
import { FIXTURE } from '../support/process.js'
import { dataFolder } from '../support/environment/on-disk.js'
import { host } from '../support/host.js'
import { freePort, Gateway } from '../support/restarting.js'
import { until } from '../support/wait.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway, openConsole } from './support/open.js'
import { call, chooseEra, connected, goTo, openTool, writeArguments } from './support/steps.js'
import { visit } from './support/visit.js'

t.test('a first visit lists what there is, and calls a tool by its form', withBrowser, async t => {
  const { page } = await openConsole(t)
  await connected(page)
  t.match(await page.title(), /Patchbay/)
  await page.getByRole('link', { name: /^Echo/ }).click()
  await page.getByRole('heading', { name: 'Echo', level: 1 }).waitFor()
  await page.getByRole('textbox', { name: /^text/ }).fill('hello from a form')
  t.match(
    await page.getByRole('textbox', { name: 'JSON', exact: true }).inputValue(),
    /"text": ?"hello from a form"/,
    'the JSON follows the form'
  )
  const view = await call(page)
  await view.getByText('done').waitFor()
  await view.getByText('hello from a form').first().waitFor()
  await writeArguments(page, { text: 'hello from JSON' })
  t.equal(
    await page.getByRole('textbox', { name: /^text/ }).inputValue(),
    'hello from JSON',
    'the form follows the JSON'
  )
})

t.test('progress moves, and Cancel ends a call, as the audit log says', withBrowser, async t => {
  const lines: string[] = []
  const { url } = await consoleGateway(
    t,
    { audit: true },
    {
      logger: {
        level: 'info',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  )
  const page = await visit(t, url)
  await connected(page)
  await openTool(page, 'slow')
  await writeArguments(page, { steps: 100_000, delay: 5 })
  const view = await call(page)
  await view.getByText(/^step \d+/).waitFor()
  const first = await view.getByText(/^step \d+/).textContent()
  await until(async () => await view.getByText(/^step \d+/).textContent() !== first, 'another step')
  await view.getByRole('button', { name: 'Cancel', exact: true }).click()
  await view.getByText('You cancelled this call').waitFor()
  await until(
    () => lines.some(line => line.includes('"outcome":"cancelled"') && line.includes('slow')),
    'the audit line'
  )
})

for (const revision of ['2026-07-28', '2025-11-25'] as const) {
  t.test(`${revision}: questions are answered beside their call`, withBrowser, async t => {
    const { app, page } = await openConsole(t)
    await connected(page)
    await chooseEra(page, revision, app)
    await openTool(page, 'ask_name')
    const accepted = await call(page)
    await accepted.getByText('What is your name?').waitFor()
    await accepted.getByRole('textbox', { name: /^name/ }).fill('Ada')
    await accepted.getByRole('button', { name: 'Accept' }).click()
    await accepted.getByText('Hello, Ada!').first().waitFor()
    const declined = await call(page)
    await declined.getByRole('button', { name: 'Decline' }).click()
    await declined.getByText('You chose to decline.').first().waitFor()

    await openTool(page, 'ask_model')
    const sampled = await call(page)
    await sampled.getByText('Capital of France?').waitFor()
    await sampled.getByLabel('Your answer').fill('Paris, by hand')
    await sampled.getByRole('button', { name: 'Send the answer' }).click()
    await sampled.getByText('Paris, by hand').first().waitFor()
  })

  t.test(`${revision}: a resource is read, and its changes are heard`, withBrowser, async t => {
    const { app, page } = await openConsole(t)
    await connected(page)
    await chooseEra(page, revision, app)
    const counter = `#/try/resource/${encodeURIComponent('server://counter')}`
    await goTo(page, counter)
    await (await call(page, 'Read')).getByText('done').waitFor()
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByText('Subscribed; no change yet').waitFor()
    await openTool(page, 'increment_counter')
    await (await call(page)).getByText('done').waitFor()
    await goTo(page, counter)
    await page.getByText(/^changed .* ago/).waitFor()
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
  })
}

t.test('a prompt is filled in, with suggestions of the server', withBrowser, async t => {
  const { page } = await openConsole(t)
  await connected(page)
  await goTo(page, '#/try/prompt/introduce')
  t.equal(await page.getByRole('combobox', { name: /^who/ }).getAttribute('aria-required'), 'true')
  t.equal(await page.getByRole('combobox', { name: 'who required' }).count(), 1, 'marked as fields of tools are')
  await page.getByRole('combobox', { name: /^who/ }).fill('A')
  await page.locator('datalist option[value="Alan"]').waitFor({ state: 'attached' })
  await page.getByRole('combobox', { name: /^who/ }).fill('Ada')
  const view = await call(page, 'Get the prompt')
  await view.getByText('Introduce Ada.').first().waitFor()
})

t.test(
  'a call of the history is there to be edited, and before one that destroys something a person is asked, without secrets',
  withBrowser,
  async t => {
    const { app, page } = await openConsole(t)
    app.mcp.resources.add(
      resource({
        uri: 'greet://{name}',
        name: 'greeting',
        description: 'Greets',
        read: async ({ name }) => `Hello, ${name}!`
      })
    )
    app.mcp.tools.add(
      tool({
        name: 'wipe',
        description: 'Wipes',
        annotations: { destructiveHint: true },
        input: Type.Object({ disk: Type.String(), pin: Type.String({ format: 'password' }) }),
        run: async ({ disk, pin }) => `${disk} is wiped by one of ${pin.length} letters`
      })
    )
    await connected(page)
    await goTo(page, `#/try/template/${encodeURIComponent('greet://{name}')}`)
    await page.getByRole('combobox', { name: /^name/ }).fill('Ada')
    await (await call(page, 'Read')).getByText('Hello, Ada!').first().waitFor()
    await page.getByRole('combobox', { name: /^name/ }).fill('Bob')
    await page.getByRole('link', { name: /^History/ }).click()
    await page.getByRole('link', { name: 'Edit and call' }).click()
    await page.getByText('greet://Ada').first().waitFor()
    t.equal(await page.getByRole('combobox', { name: /^name/ }).inputValue(), 'Ada')

    await openTool(page, 'wipe')
    await page.getByRole('textbox', { name: /^disk/ }).fill('sda')
    await page.getByLabel(/^pin/).fill('CANARY')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    const dialog = page.getByRole('dialog')
    t.match(await dialog.textContent(), /"disk": "sda".*"pin": "\[redacted\]"/s)
    await dialog.getByRole('button', { name: 'Call it' }).click()
    await page.getByText('sda is wiped by one of 6 letters').first().waitFor()
  }
)

t.test('Watch shows calls as they end and while they run', withBrowser, async t => {
  const { url, page } = await openConsole(t)
  await connected(page)
  await page.getByRole('link', { name: 'Watch', exact: true }).click()
  await page.getByRole('heading', { name: 'In flight' }).waitFor()
  // What ended before the feed was open is not in it.
  await page.getByText('Healthy').first().waitFor()
  const other = await visit(t, url)
  await connected(other)
  await openTool(other, 'echo')
  await writeArguments(other, { text: 'not for watchers' })
  await call(other)
  await page.getByRole('region', { name: 'Calls that have ended' }).getByText('echo').first().waitFor()
  await openTool(other, 'slow')
  await writeArguments(other, { steps: 2, delay: 600_000 })
  const running = await call(other)
  await page.getByRole('region', { name: 'Calls in flight' }).getByText('slow').first().waitFor()
  await running.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('region', { name: 'Calls in flight' }).getByText('slow').first().waitFor({ state: 'detached' })
  t.notMatch(await page.content(), /not for watchers/)
})

t.test('a gateway that was killed is missed, and found again with what was typed', withBrowser, async t => {
  const gateway = new Gateway(t, await freePort(), await dataFolder(t), ['--plugin', FIXTURE])
  await gateway.start()
  const page = await visit(t, gateway.url, { expected: [/ERR_CONNECTION|WebSocket|Failed to (load|fetch)/] })
  await connected(page)
  await openTool(page, 'slow')
  await writeArguments(page, { steps: 7, delay: 500_000 })
  const view = await call(page)
  await gateway.end('SIGKILL')
  await page.getByText('What you typed is kept.').waitFor()
  await page.getByText('1 call was lost with the connection').waitFor()
  await view.getByText('lost', { exact: true }).waitFor()
  await gateway.start()
  await connected(page)
  t.match(
    await page.getByRole('textbox', { name: 'JSON', exact: true }).inputValue(),
    /500000/,
    'the draft is as it was'
  )
  await writeArguments(page, { steps: 1, delay: 1 })
  const again = await call(page)
  await again.getByText('1 steps').first().waitFor()
})

/** Calls one tool on a page at this place. */
async function callsEcho (page: Page): Promise<void> {
  await connected(page)
  await openTool(page, 'echo')
  await writeArguments(page, { text: 'below a prefix' })
  await (await call(page)).getByText('below a prefix').first().waitFor()
}

t.test('the page works below a prefix, and inside of another application', withBrowser, async t => {
  const { url } = await consoleGateway(t, { prefix: '/gate' })
  await callsEcho(await visit(t, url, { path: '/gate/console' }))
  const app = await host(t, () => {}, { console: true })
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await callsEcho(await visit(t, address, { path: '/ai/console' }))
  t.equal(
    (await fetch(`${address}/own`)).headers.get('content-security-policy'),
    null,
    'routes of the host have none of its headers'
  )
})

t.test('a call that is copied as curl does the same in a shell', withBrowser, async t => {
  const { url } = await consoleGateway(t)
  const page = await visit(t, url, {
    prepare: async context => await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
  })
  await connected(page)
  await openTool(page, 'echo')
  await writeArguments(page, { text: 'it\'s "copied"' })
  await page.getByText('Copy as', { exact: true }).click()
  await page.getByRole('button', { name: 'curl' }).click()
  let copied = ''
  await until(
    async () => (copied = String(await page.evaluate('navigator.clipboard.readText()'))).startsWith('curl'),
    'a copied command'
  )
  const { stdout } = await promisify(execFile)('sh', ['-c', copied])
  t.match(stdout, /it's \\"copied\\"/)
})
