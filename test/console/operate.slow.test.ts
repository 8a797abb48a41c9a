import t from 'tap'
import { createClient, tool, Type } from '../../app.js'
import { ADA, apiKeys, BOB, listed } from '../support/keys.js'
import { until } from '../support/wait.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway, openConsole } from './support/open.js'
import { connected } from './support/steps.js'
import { visit } from './support/visit.js'

const HOSTILE = '<img src=x onerror="window.__xss=1">\u202Egnirts'

t.test(
  'calls that wait for an operator are shown whole, answered, and end in words when they have gone',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const rules = [{ ask: ['echo'], by: 'operator' as const, message: `Read it: ${HOSTILE}` }]
    const { app, url } = await consoleGateway(t, { rules, apiKeys: [listed('bob', BOB, ['admin'])] })
    const open = async (path: string) => {
      const page = await visit(t, url, { path })
      await page.getByLabel('API key').fill(BOB)
      await page.getByRole('button', { name: 'Log in with this key' }).click()
      return page
    }
    const page = await open('/console')
    await connected(page)
    const client = await createClient(app)
    const first = client.call('echo', { text: HOSTILE })
    first.catch(() => {})
    await page.getByRole('link', { name: 'Approvals 1 waiting' }).click()
    const one = page.getByRole('article', { name: 'Call of echo' })
    await one.locator('pre').getByText('window.__xss').waitFor()
    t.equal(await page.evaluate('window.__xss'), undefined, 'text is text')
    t.match(await one.locator('pre').textContent(), /⟨U\+202E⟩/, 'what reorders text is drawn')
    await checkAccessibility(t, page, 'a call that waits')

    const other = await open('/console#/approvals')
    await other.getByRole('button', { name: 'Approve the call of echo' }).waitFor()
    await one.getByRole('button', { name: 'Approve' }).click()
    t.match(await first, { text: HOSTILE })
    await one.getByText('You approved it.').waitFor()
    await other.getByText('It does not wait any more').waitFor()
    t.equal(await other.getByRole('button', { name: 'Approve' }).count(), 0, 'there is nothing left to press')

    const second = client.call('echo', { text: 'no' })
    second.catch(() => {})
    const two = page.getByRole('article', { name: 'Call of echo' }).nth(1)
    await two.getByRole('button', { name: 'Decline' }).click()
    await t.rejects(second, /the operator declined this call/)
    await two.getByText('You declined it.').waitFor()
    await page.getByRole('button', { name: 'Remove what has ended' }).click()
    await page.getByText('No call waits for an operator.').waitFor()
    await checkAccessibility(t, page, 'no call that waits')

    app.mcp.rules.replace({ rules: [{ allow: ['ask_name'], questions: 'operator' }], rulesDefault: 'allow' })
    const third = client.call('ask_name')
    third.catch(() => {})
    const question = page.getByRole('article', { name: 'Call of ask_name' })
    await question.getByText('It asks: What is your name?').waitFor()
    await checkAccessibility(t, page, 'a question that waits')
    await question.getByRole('textbox', { name: 'name' }).fill('Ada')
    await question.getByRole('button', { name: 'Answer' }).click()
    await question.getByText('You answered it.').waitFor()
    t.match(JSON.stringify(await third), /Hello, Ada!/)
  }
)

t.test(
  'tasks of all callers are listed while they run and when they have ended, and cancelled',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { app, page } = await openConsole(t)
    await connected(page)
    app.mcp.tools.add(tool({
      name: 'dig',
      description: 'Digs until it is cancelled',
      input: Type.Object({ depth: Type.Integer() }),
      task: 'must',
      run: async ({ depth }, call) => {
        if (depth === 0) return 'done'
        await new Promise(resolve => call.signal.addEventListener('abort', resolve, { once: true }))
        return 'never'
      }
    }))
    const client = await createClient(app)
    await client.request('tools/call', { name: 'dig', arguments: { depth: 0 }, task: {} })
    await client.request('tools/call', { name: 'dig', arguments: { depth: 1 }, task: {} })
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    const list = page.getByRole('list', { name: 'Work that outlives its request' })
    const running = list.getByRole('listitem').filter({ hasText: 'runs' })
    await running.getByRole('button', { name: 'Cancel dig' }).waitFor()
    await list.getByText('completed').waitFor()
    await checkAccessibility(t, page, 'tasks')
    await running.getByRole('button', { name: 'Cancel dig' }).click()
    await list.getByText('cancelled', { exact: true }).waitFor()
    await until(async () => await page.getByRole('button', { name: 'Cancel dig' }).count() === 0, 'no button to be left')
    await page.getByText('0 running, 2 ended').waitFor()
  }
)

t.test('a caller with a plain key sees its own tasks, and cancels them', { ...withBrowser, timeout: 240_000 }, async t => {
  const { app, page } = await openConsole(t, { apiKeys }, { expected: [/status of 40[013]/] })
  const tasks = await app.mcp.storedTasks()
  for (const owner of ['ada', 'bob']) {
    await tasks.create({ kind: 'task', owner: `key:${owner}`, tool: `dig for ${owner}`, scopes: ['mcp'] })
  }
  await page.getByLabel('API key').fill(ADA)
  await page.getByRole('button', { name: 'Log in with this key' }).click()
  await connected(page)
  await page.getByRole('link', { name: 'Tasks', exact: true }).click()
  await page.getByText('1 running, 0 ended, all yours').waitFor()
  t.equal(await page.getByText('dig for bob').count(), 0)
  await page.getByRole('button', { name: 'Cancel dig for ada' }).click()
  await page.getByText('0 running, 1 ended, all yours').waitFor()
  await page.getByRole('list', { name: 'Work that outlives its request' }).getByText('cancelled', { exact: true }).waitFor()
})
