import type { Page } from 'playwright-core'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool } from '../../app.js'
import { until } from '../support/wait.js'
import { withBrowser } from './support/browser.js'
import { openConsole } from './support/open.js'
import { callAfter, connected, newest } from './support/steps.js'

/** More stops than any view of these tests has. */
const MOST_STOPS = 150

interface Focused { name: string, role: string, seen: boolean, inside: boolean }

/** The element that has the focus: its name, and whether a person can see that it has. */
const FOCUSED = `(() => {
  const element = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const { top, bottom, left, right } = element.getBoundingClientRect()
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent
  return {
    name: (name ?? '').trim(), role: element.getAttribute('role') ?? element.tagName.toLowerCase(),
    seen: element.matches(':focus-visible') && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    inside: bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
  }
})()`

const focused = async (page: Page): Promise<Focused> => await page.evaluate(FOCUSED) as Focused

/** Presses Tab until something of this name has the focus; each stop before it must be seen, too. */
async function tabTo (t: Test, page: Page, name: RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press(key)
    const now = await focused(page)
    if (now.role !== 'body' && !(now.seen && now.inside)) {
      t.fail(`the focus cannot be seen on ${now.role} "${now.name}"`)
    }
    if (name.test(now.name)) return
    passed.push(now.name.slice(0, 40))
  }
  throw new Error(`${String(name)} is not reached by ${key}; passed ${passed.join(' | ')}`)
}

/** Opens a tool by the filter, and what is left of the list. */
async function open (t: Test, page: Page, tool: string, link: RegExp): Promise<void> {
  await page.keyboard.press('/')
  t.match(await focused(page), { name: /^Filter/ }, 'the key / goes to the filter')
  await page.keyboard.press('Control+A')
  await page.keyboard.type(tool)
  await tabTo(t, page, link)
  await page.keyboard.press('Enter')
  await page.locator('article h1').filter({ hasText: link }).waitFor()
}

t.test(
  'the tour is done by keyboard alone, and the focus is always seen',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t)
    await connected(page)
    await page.keyboard.press('Tab')
    t.match(await focused(page), { name: 'Skip to the content', seen: true, inside: true })
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate('document.activeElement.id'), 'main')

    await open(t, page, 'echo', /^Echo/)
    await tabTo(t, page, /^text/)
    await page.keyboard.type('typed')
    await tabTo(t, page, /^Call$/)
    let before = await newest(page)
    await page.keyboard.press('Enter')
    await (await callAfter(page, before)).getByText('typed').first().waitFor()
    t.match(await focused(page), { name: 'Call' }, 'a result does not take the focus away')

    await open(t, page, 'ask_name', /^ask_name/)
    await tabTo(t, page, /^Call$/)
    before = await newest(page)
    await page.keyboard.press('Enter')
    const question = await callAfter(page, before)
    await question.getByText('What is your name?').waitFor()
    await tabTo(t, page, /^name/)
    await page.keyboard.type('Grace')
    await tabTo(t, page, /^Accept$/)
    await page.keyboard.press('Enter')
    await question.getByText('Hello, Grace!').first().waitFor()
    t.not((await focused(page)).role, 'body', 'the focus is not lost with the question')

    await tabTo(t, page, /^Settings$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    t.match(await focused(page), { name: 'Settings' }, 'the focus comes back from a dialog')

    await tabTo(t, page, /^Watch$/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'In flight' }).waitFor()
    await tabTo(t, page, /^Pause$/)
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Pause', pressed: true }).waitFor()
  }
)

t.test(
  'in the filter, ArrowDown goes to the list, Enter opens the first item, and a slip gets a hint',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t)
    await connected(page)
    const filter = page.getByRole('searchbox')
    await filter.press('ArrowDown')
    const first = await focused(page)
    await page.keyboard.press('ArrowDown')
    t.not((await focused(page)).name, first.name)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    t.match((await focused(page)).name, /Filter tools/)
    await filter.fill('ecoh')
    await page.getByRole('link', { name: 'echo', exact: true }).waitFor()
    await filter.fill('ask_name')
    await filter.press('Enter')
    await page.getByRole('button', { name: 'Call', exact: true }).waitFor()
    t.match(page.url(), '#/try/tool/ask_name')
  }
)

t.test(
  'the list shows the row of a tool that was opened by its address',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const many = async (app: FastifyInstance): Promise<void> => {
      for (let number = 100; number < 400; number++) {
        app.mcp.tools.add(tool({ name: `tool_${number}`, description: 'd', run: () => 'x' }))
      }
    }
    const { page } = await openConsole(t, { plugins: [many] }, { path: '/console/#/try/tool/tool_399' })
    await page.locator('a.item[aria-current]').waitFor()
    await until(
      async () =>
        (await page.evaluate(
          "(() => { const { top, bottom } = document.querySelector('a.item[aria-current]').getBoundingClientRect(); return top >= 0 && bottom <= innerHeight + 1 })()"
        )) === true,
      'its row is in view'
    )
  }
)
