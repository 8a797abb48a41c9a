import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../app.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway, openConsole } from './support/open.js'
import { callAfter, connected, newest, openTool } from './support/steps.js'
import { visit } from './support/visit.js'

t.test(
  'Enter calls from a text field, Shift+Enter breaks the line, Ctrl+Enter calls from everywhere',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t)
    await connected(page)
    await openTool(page, 'echo')
    const field = page.getByRole('textbox', { name: 'text' }).first()
    await field.fill('one')
    await field.press('Shift+Enter')
    await field.pressSequentially('two')
    t.equal(await field.inputValue(), 'one\ntwo')
    t.equal(await newest(page), '', 'nothing was called')
    await field.press('Enter')
    const first = await callAfter(page, '')
    await first.getByText('two').first().waitFor()
    t.equal(await field.inputValue(), 'one\ntwo', 'Enter breaks no line')
    const before = await newest(page)
    await page.getByRole('textbox', { name: 'JSON', exact: true }).press('Control+Enter')
    await callAfter(page, before)
  }
)

t.test(
  'a tool that destroys something asks before Enter and Ctrl+Enter call it',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const wipe = tool({
      name: 'wipe',
      description: 'd',
      annotations: { destructiveHint: true, readOnlyHint: false },
      input: Type.Object({ what: Type.String() }),
      run: () => 'gone'
    })
    const { page } = await openConsole(t, {
      plugins: [
        async (app: FastifyInstance) => {
          app.mcp.tools.add(wipe)
        }
      ]
    })
    await connected(page)
    await openTool(page, 'wipe')
    const field = page.getByRole('textbox', { name: 'what' }).first()
    await field.fill('x')
    for (const keys of ['Enter', 'Control+Enter']) {
      await field.press(keys)
      await page.getByRole('dialog').getByText('says that it destroys something').waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    t.equal(await newest(page), '', 'nothing was called')
  }
)

t.test(
  'on a small screen the result comes into view, and the focus stays',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t, {}, { width: 390, height: 500 })
    await page.getByText('Connected', { exact: true }).first().waitFor()
    await openTool(page, 'echo')
    const field = page.getByRole('textbox', { name: 'text' }).first()
    await field.fill('hello')
    await field.press('Enter')
    const call = await callAfter(page, '')
    await call.getByText('done').waitFor()
    t.ok(await visibleSoon(page, call), 'the result is in the window')
    t.equal(await page.evaluate('document.activeElement.tagName'), 'TEXTAREA')
  }
)

async function visibleSoon (
  page: { evaluate: (text: string) => Promise<unknown> },
  call: { waitFor: () => Promise<void> }
): Promise<boolean> {
  await call.waitFor()
  for (let turn = 0; turn < 200; turn++) {
    if (
      (await page.evaluate(
        "new Promise(done => requestAnimationFrame(() => { const { top, bottom } = document.querySelector('section.call').getBoundingClientRect(); done(bottom > 0 && top < innerHeight - 40) }))"
      )) === true
    ) { return true }
  }
  return false
}

t.test(
  'the history survives a reload, without secrets, and is gone when everything is forgotten',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const login = tool({
      name: 'login',
      description: 'd',
      input: Type.Object({ user: Type.String(), pin: Type.String({ format: 'password' }) }),
      run: () => 'welcome'
    })
    const { url } = await consoleGateway(t, {
      plugins: [
        async (app: FastifyInstance) => {
          app.mcp.tools.add(login)
        }
      ]
    })
    const page = await visit(t, url)
    await connected(page)
    await openTool(page, 'login')
    await page.getByRole('textbox', { name: 'user' }).first().fill('ada')
    await page.locator('input[type=password]').first().fill('9876-canary')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await (await callAfter(page, '')).getByText('welcome').first().waitFor()
    t.notMatch(await page.evaluate('JSON.stringify({ ...sessionStorage })'), '9876-canary')
    await page.reload()
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByText('A reload keeps the last 50').waitFor()
    await page.getByRole('button', { name: /login.*done/ }).click()
    await page.getByText('Values that may be secret were not kept').waitFor()
    t.equal(await page.getByRole('button', { name: 'Call again' }).count(), 0)
    await page.getByRole('link', { name: 'Edit and call' }).click()
    t.equal(await page.getByRole('textbox', { name: 'user' }).first().inputValue(), 'ada')
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.reload()
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByText('Nothing was called yet').waitFor()
  }
)
