import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { pieces } from '../../console/parts/text.js'
import { until } from '../support/wait.js'
import { withBrowser } from './support/browser.js'
import { CIRCLES, circularServer, write } from './support/circular-server.js'
import { hostileServer, openCall } from './support/hostile-server.js'
import { HOSTILE } from './support/hostile-strings.js'
import { consoleGateway } from './support/open.js'
import { scriptServer } from './support/scripted-server.js'
import { call, connected, goTo, openTool, readable } from './support/steps.js'
import { visit } from './support/visit.js'

/** A text as the page draws it, with hidden characters named. */
const drawn = (text: string): string =>
  pieces(text)
    .map(piece =>
      typeof piece === 'string'
        ? piece
        : `⟨${[...piece.codes, ...(piece.more > 0 ? [`${piece.more} more`] : [])].join(' ')}⟩`
    )
    .join('')

const DRAWN = HOSTILE.map(drawn)

/** Every text is there to be read, and none of them did anything. */
async function showsAll (t: Test, page: Page, where: string): Promise<void> {
  const missing = async (): Promise<string[]> => {
    const text = await readable(page)
    return DRAWN.filter(each => !text.includes(each))
  }
  await until(async () => (await missing()).length === 0, where, 20_000).catch(() => {})
  t.strictSame(await missing(), [], `${where}: all texts can be read`)
  await didNothing(t, page, where)
}

async function didNothing (t: Test, page: Page, where: string): Promise<void> {
  t.equal(await page.evaluate('typeof window.__xss'), 'undefined', `${where}: nothing ran`)
  t.equal(page.context().pages().length, 1, `${where}: no window was opened`)
  const elements = await page.evaluate(
    'document.querySelectorAll(\'script:not([src^="main."]), iframe, object, embed, base, meta[http-equiv], style, math, form[action], a[href^="javascript:" i], a[href^="data:" i]\').length'
  )
  t.equal(elements, 0, `${where}: no element was made of them`)
}

t.test('what servers write is text, wherever it stands', { ...withBrowser, timeout: 240_000 }, async t => {
  const { url } = await consoleGateway(t)
  const page = await visit(t, url, { prepare: async context => await scriptServer(context, hostileServer) })
  await connected(page)
  await showsAll(t, page, 'the list of tools')

  for (const name of HOSTILE) {
    await openTool(page, name)
    const heading = await page.locator('article h1').textContent()
    if (heading !== drawn(name)) t.equal(heading, drawn(name))
  }
  await didNothing(t, page, 'each tool')

  await openTool(page, 'all')
  await showsAll(t, page, 'a tool with its schema')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: 'to change' }).waitFor()
  await showsAll(t, page, 'a form with mistakes')
  const view = await call(page, 'Call anyway')
  await view.getByRole('progressbar').waitFor()
  await showsAll(t, page, 'progress and logs')
  openCall.end?.()
  await view.getByText('done', { exact: true }).waitFor()
  await showsAll(t, page, 'a result')

  await openTool(page, 'error')
  await call(page)
  await showsAll(t, page, 'an error')

  await openTool(page, 'ask')
  await call(page)
  await showsAll(t, page, 'questions')
  t.equal(new URL(page.url()).pathname, '/console/', 'the page is still there')
})

t.test(
  'the same for resources, prompts, messages and what is watched',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { url } = await consoleGateway(t)
    const page = await visit(t, url, { prepare: async context => await scriptServer(context, hostileServer) })
    await connected(page)
    for (const [kind, action] of [
      ['resource', 'Read'],
      ['template', undefined],
      ['prompt', 'Get the prompt']
    ] as const) {
      await goTo(page, `#/try/${kind}`)
      await showsAll(t, page, `the list of each ${kind}`)
      await page.locator('.items a').first().click()
      await page.locator('article h1').waitFor()
      await didNothing(t, page, `one ${kind}`)
      if (action === undefined) continue
      await call(page, action)
      await showsAll(t, page, `the content of a ${kind}`)
    }
    await goTo(page, '#/watch')
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor()
    await showsAll(t, page, 'Watch')
    await goTo(page, '#/messages')
    await didNothing(t, page, 'messages')
    t.equal(new URL(page.url()).pathname, '/console/', 'the page is still there')
  }
)

t.test(
  'a schema without end has a form, and what cannot be drawn leaves the rest of the page',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { url } = await consoleGateway(t)
    const page = await visit(t, url, { prepare: async context => await scriptServer(context, circularServer, write) })
    await connected(page)
    const broken = page.getByText('This part of the page could not be drawn')
    for (const name of Object.keys(CIRCLES)) {
      await openTool(page, name)
      t.equal(await page.locator('article h1').textContent(), name)
      t.ok((await page.locator('form select, form textarea, form button').count()) > 1, `${name}: there is a form`)
    }
    t.equal(await broken.count(), 0)

    await goTo(page, '#/try/tool/deep')
    await broken.waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await broken.waitFor()

    await openTool(page, 'ask')
    t.equal(await broken.count(), 0, 'another place is drawn')
    const view = await call(page)
    await view.getByText('Which?').first().waitFor()
    await until(
      async () => (await view.getByRole('button', { name: 'Accept' }).count()) === Object.keys(CIRCLES).length,
      'a form for each question'
    )
    t.equal(await broken.count(), 1, 'of the questions only one is not drawn')
    await view.getByRole('button', { name: 'Cancel', exact: true }).first().click()
    await view.getByText('cancelled', { exact: true }).waitFor()
  }
)

t.test(
  'a schema that takes years to check stops neither the page nor a call',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const slow = {
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(a+)+$', default: `${'a'.repeat(60)}!` } }
    }
    const answers = {
      ...hostileServer,
      'tools/list': () => ({
        tools: [{ name: 'slow', inputSchema: slow, outputSchema: slow, annotations: { readOnlyHint: true } }]
      }),
      'tools/call': () => ({ content: [], structuredContent: { text: `${'a'.repeat(60)}!` } })
    }
    const { url } = await consoleGateway(t)
    const page = await visit(t, url, { prepare: async context => await scriptServer(context, answers) })
    await connected(page)
    await openTool(page, 'slow')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    t.equal(await page.evaluate('1 + 1'), 2, 'the page answers while the arguments are checked')
    await page.getByRole('alert').filter({ hasText: 'could not be checked' }).waitFor()
    const view = await call(page, 'Call anyway')
    await view.getByText('could not be checked in a second').waitFor()
    await until(() => page.workers().length === 0, 'no worker is left')
    await page.getByRole('textbox', { name: 'JSON', exact: true }).first().fill('{"text":7}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'This must be: text.' }).waitFor()
  }
)
