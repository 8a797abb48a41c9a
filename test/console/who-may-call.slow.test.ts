import t from 'tap'
import { ADA, BOB, listed } from '../support/keys.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway } from './support/open.js'
import { openTool } from './support/steps.js'
import { visit } from './support/visit.js'

t.test(
  'a tool says who may call it: to an operator of each key and why, to others of themselves alone',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { url } = await consoleGateway(t, {
      apiKeys: [listed('ops', BOB, ['admin']), listed('ci', ADA, ['mcp'])],
      rules: [{ deny: ['echo'], for: { not: { scope: 'admin' } }, where: { text: 'x' }, name: 'no-x' }]
    })
    const open = async (key: string) => {
      const page = await visit(t, url)
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Log in with this key' }).click()
      await openTool(page, 'echo')
      await page.getByText('Who may call it').click()
      return page
    }
    const ofOperator = await open(BOB)
    const keys = ofOperator.getByRole('list', { name: 'API keys' })
    await keys.getByText('ci', { exact: true }).waitFor()
    await keys.getByText('may call it with some arguments').waitFor()
    await keys.getByText('no-x (deny) where the arguments say so, else rulesDefault (allow)').waitFor()
    await checkAccessibility(t, ofOperator, 'who may call a tool')
    const ofOther = await open(ADA)
    await ofOther.getByText('The caller of this page may call it with some arguments').waitFor()
    t.equal(await ofOther.getByText('no-x').count(), 0, 'rules are not told')
    t.equal(await ofOther.getByRole('list', { name: 'API keys' }).count(), 0, 'nor other callers')
  }
)
