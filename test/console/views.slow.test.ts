import t from 'tap'
import type { Page } from 'playwright-core'
import { apiKeys, ADA, BOB } from '../support/keys.js'
import { newestLegacy } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { until } from '../support/wait.js'
import { openFixture } from '../upstreams/fixture/open.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { openConsole } from './support/open.js'
import { call, connected, goTo, openTool, writeArguments } from './support/steps.js'

const VIEWS = {
  short: {
    description: 'By their own names',
    servers: ['files'],
    exclude: ['files__hang'],
    names: 'short' as const,
    override: { files__echo: { description: 'Says it again' } }
  },
  own: { tools: ['echo', 'slow'] }
}

const LATE = { ...withBrowser, timeout: 240_000 }

const chooser = (page: Page) => page.getByLabel('View of the gateway')

/** Chooses a view, and waits for what it lists. */
async function choose (page: Page, view: string, first: string): Promise<void> {
  await chooser(page).selectOption(view)
  await connected(page)
  await page.locator('.items a', { hasText: first }).first().waitFor()
}

const names = async (page: Page): Promise<string[]> => await page.locator('.items .item-name').allTextContents()

t.test('an operator switches views: lists and calls are those of clients, the feed has canonical names', LATE, async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const { app, page } = await openConsole(t, { views: VIEWS, mcpServers: { files: entry } })
  await upstreamsReady(app, ['files'])
  await connected(page)
  const all = await app.mcp.costs.ofViews()
  const costs = page.locator('.costs')
  const rowOf = (name: string) => costs.locator('li').filter({ has: page.getByRole('button', { name, exact: true }) })
  for (const { name = 'Everything', tools, tokens } of all) {
    await rowOf(name).getByText(`${tools} tools, about ${tokens.toLocaleString('en')} tokens`).waitFor()
  }
  await rowOf('short').getByText('By their own names').waitFor()
  await checkAccessibility(t, page, 'Try with the costs of views')

  await choose(page, 'own', 'slow')
  t.strictSame(await names(page), ['Echo', 'slow'])
  const own = all.find(({ name }) => name === 'own')
  await page.getByText(`Their definitions have about ${own?.tokens} tokens (an estimate).`).waitFor()

  await choose(page, 'short', 'reflect')
  const listed = await app.mcp.costs.ofTools('short') ?? []
  t.notOk((await names(page)).includes('hang'))
  t.equal((await names(page)).length, listed.length)
  await openTool(page, 'echo')
  const echo = listed.find(({ name }) => name === 'echo')
  await page.locator('.badges').getByText(`about ${echo?.tokens} tokens`).waitFor()
  await page.getByText('In options, logs and on /mcp it is files__echo.').waitFor()
  await page.locator('.description').getByText('Says it again').waitFor()
  await page.getByText(`Original definition, about ${echo?.originalTokens} tokens; different in description`).click()
  await page.locator('.definition[open] pre').getByText('"name": "files__echo"').waitFor()
  await writeArguments(page, { text: 'said in a view' })
  await (await call(page)).getByText('said in a view').first().waitFor()
  await checkAccessibility(t, page, 'a tool of a view')

  await goTo(page, '#/watch')
  await page.getByRole('region', { name: 'Calls' }).getByText('files__echo').first().waitFor()
  await goTo(page, '#/try')
  await chooser(page).selectOption('')
  await page.locator('.items a', { hasText: 'hang' }).first().waitFor()
  t.equal((await names(page)).length, all[0]?.tools)
})

t.test('a view that is gone can be left', LATE, async t => {
  const expected = [/WebSocket connection to .*\/mcp\/own.* failed/, /404/]
  const { app, page } = await openConsole(t, { views: VIEWS }, { expected })
  await connected(page)
  await choose(page, 'own', 'slow')
  await app.mcp.curation.configure({ short: VIEWS.short })
  await page.getByText('The server offers no tools.').waitFor()
  // Another connection is refused.
  await page.getByLabel('Protocol revision').selectOption({ label: newestLegacy.version })
  await page.getByRole('button', { name: 'Leave the view own, which may be gone' }).click()
  await connected(page)
  await until(async () => await chooser(page).inputValue() === '', 'everything is shown')
  t.ok((await names(page)).length > 2)
})

t.test('a caller without the scope admin has no switch, and no costs of others', LATE, async t => {
  const { page } = await openConsole(t, { views: VIEWS, apiKeys }, { expected: [/status of 40[013]/] })
  const logIn = async (key: string): Promise<void> => {
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Log in with this key' }).click()
    await connected(page)
  }
  await logIn(BOB)
  await chooser(page).selectOption('own')
  await connected(page)
  await page.getByRole('button', { name: 'Log out' }).click()
  await logIn(ADA)
  t.equal(await chooser(page).count(), 0)
  t.equal(await page.locator('.costs').count(), 0)
  t.ok((await names(page)).length > 2, 'everything, and not the view of the operator before')
})
