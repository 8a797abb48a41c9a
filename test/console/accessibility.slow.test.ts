import t from 'tap'
import { withBrowser } from './support/browser.js'
import { checkAccessibility } from './support/axe.js'
import { openConsole } from './support/open.js'
import { call, connected, goTo, openTool, writeArguments } from './support/steps.js'

t.test(
  'axe finds nothing wrong on any view, light and dark, wide and narrow',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t)
    await connected(page)
    await checkAccessibility(t, page, 'the list of tools')
    await openTool(page, 'echo')
    await checkAccessibility(t, page, 'a form')
    await writeArguments(page, { text: 3 })
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByRole('alert').filter({ hasText: 'has to change' }).waitFor()
    await checkAccessibility(t, page, 'a form with a mistake')
    await openTool(page, 'every_block')
    await (await call(page)).getByText('done').waitFor()
    await checkAccessibility(t, page, 'a result')
    await openTool(page, 'ask_name')
    await (await call(page)).getByText('What is your name?').waitFor()
    await checkAccessibility(t, page, 'a question')
    await openTool(page, 'refuse')
    await (await call(page)).getByText('tool failed').waitFor()
    await checkAccessibility(t, page, 'a failed call')
    for (const [hash, what] of [
      [`#/try/resource/${encodeURIComponent('test://text')}`, 'a resource'],
      [`#/try/template/${encodeURIComponent('test://item/{id}')}`, 'a template'],
      ['#/try/prompt/introduce', 'a prompt']
    ] as const) {
      await goTo(page, hash)
      await page.locator('article h1').waitFor()
      await checkAccessibility(t, page, what)
    }
    await goTo(page, '#/history')
    await page.getByRole('heading', { name: /History/ }).waitFor()
    await checkAccessibility(t, page, 'the history')
    await goTo(page, '#/messages')
    await page.locator('.message-list button').first().click()
    await page.getByRole('region', { name: 'One message' }).waitFor()
    await checkAccessibility(t, page, 'the messages')
    await goTo(page, '#/watch')
    await page.getByRole('heading', { name: 'Upstreams' }).waitFor()
    await checkAccessibility(t, page, 'Watch')
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('dialog').waitFor()
    await checkAccessibility(t, page, 'the settings')
  }
)
