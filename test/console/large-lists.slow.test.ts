import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../app.js'
import { until } from '../support/wait.js'
import { withBrowser } from './support/browser.js'
import { openConsole } from './support/open.js'
import { call, openTool, writeArguments } from './support/steps.js'

const TOOLS = 5_000
const BYTES = 4 * 1024 * 1024

async function many (fastify: FastifyInstance): Promise<void> {
  for (let number = 0; number < TOOLS; number++) {
    fastify.mcp.tools.add(
      tool({ name: `tool_${number}`, description: `Number ${number}`, run: () => `I am ${number}` })
    )
  }
}

async function big (fastify: FastifyInstance): Promise<void> {
  fastify.mcp.tools.add(
    tool({
      name: 'big',
      description: 'Much text',
      input: Type.Object({ bytes: Type.Integer() }),
      run: ({ bytes }) => `${'0123456789abcde\n'.repeat(bytes / 16 - 1)}the very end.\n\n`
    })
  )
}

t.test('5,000 tools are listed over all pages, filtered and called', { ...withBrowser, timeout: 240_000 }, async t => {
  const { page } = await openConsole(t, { plugins: [many] })
  await page.locator('.items a').first().waitFor()
  await page.getByRole('link', { name: /^Tools 5,0\d\d$/ }).waitFor()
  t.ok(await page.locator('.items a').count() <= 1_000, 'not all of them are drawn at once')
  await page.getByRole('searchbox').fill('tool_4999')
  await until(async () => await page.locator('.items a').count() === 1, 'one tool is left')
  const times = await page.evaluate(TYPE_AND_MEASURE) as number[]
  t.comment(`the page was busy for ${times.map(ms => Math.round(ms)).join(', ')} ms after each key`)
  await page.locator('.items a').first().click()
  const view = await call(page)
  await view.getByText('I am 4999').first().waitFor()
})

/** Types into the filter, and waits for the frame in which the list is drawn. */
const TYPE_AND_MEASURE = `(async () => {
  const input = document.querySelector('input[type=search]')
  const times = []
  for (const text of ['t', 'tool_1', 'tool_12', '']) {
    const begun = performance.now()
    input.value = text
    input.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    times.push(performance.now() - begun)
  }
  input.value = 'tool_4999'
  input.dispatchEvent(new Event('input', { bubbles: true }))
  return times
})()`

t.test(
  'of a result of 4 MiB a part is shown, and all of it can be saved',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { page } = await openConsole(t, { plugins: [big], maxMessage: 2 * BYTES, limits: { maxQueue: 4 * BYTES } })
    await page.locator('.items a').first().waitFor()
    await openTool(page, 'big')
    await writeArguments(page, { bytes: BYTES })
    const view = await call(page)
    await view.getByText('done', { exact: true }).waitFor()
    const shown = ((await view.textContent()) ?? '').length
    t.ok(shown > 10_000 && shown < 600_000, `${shown} characters are shown`)
    await page.getByRole('searchbox').fill('big')
    await until(async () => (await page.locator('.items a').count()) === 1, 'the page still answers')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      view
        .getByRole('button', { name: /^(Download|Save)/ })
        .first()
        .click()
    ])
    const expected = `${'0123456789abcde\n'.repeat(BYTES / 16 - 1)}the very end.\n\n`
    const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')
    t.equal(digest(readFileSync(await download.path())), digest(expected), 'every byte of it')
  }
)
