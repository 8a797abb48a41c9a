import t from 'tap'
import { browse } from '../support/environment/authorization-server.js'
import { apiKeys, ADA, BOB } from '../support/keys.js'
import { until } from '../support/wait.js'
import { echo, ENTRY, namesFor, post } from '../upstreams/sign-in/callers.js'
import { openPlace, PageVisitor } from '../upstreams/sign-in/place.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway, openConsole } from './support/open.js'

/** Keeps the address in place of opening it: the browser of the test follows no redirects to other ports. */
const KEEP = 'window.open = url => { window.opened = String(url); return null }'

t.test(
  'a server that needs a sign-in has a button, whose page is opened when the person says so, and is used then',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { options } = await openPlace(t)
    const { app, page } = await openConsole(t, options, {
      prepare: async context => { await context.addInitScript(KEEP) }
    })
    const group = page.locator('.group-server', { hasText: 'linear' })
    await group.getByText('needs sign-in').waitFor()
    await group.getByRole('button', { name: 'Sign in to linear' }).click()
    const question = group.getByRole('group', { name: 'Sign in to linear' })
    await question.getByText('linear wants you to sign in').waitFor()
    t.equal(await page.evaluate('window.opened'), undefined, 'nothing is opened before the person says so')
    await checkAccessibility(t, page, 'a server that asks to sign in')
    await question.getByRole('button', { name: /^Open 127\.0\.0\.1/ }).click()
    await group.getByText('Waits until you have signed in.').waitFor()
    await browse(String(await page.evaluate('window.opened')))
    await until(() => app.mcp.upstreams.status()[0]?.state === 'ready')
    await page.getByRole('link', { name: 'echo' }).first().waitFor()
    t.equal(await group.count(), 0, 'it runs, and is no group of servers that do not')
  }
)

t.test('only operators sign in for all: for others there is no method', async t => {
  const { options } = await openPlace(t)
  const { app } = await consoleGateway(t, { ...options, apiKeys })
  await until(() => app.mcp.upstreams.status()[0]?.state === 'needs sign-in')
  const ask = async (key: string) => await post(app, key, 'patchbay/servers/sign-in', { server: 'linear' })
  t.match(await ask(ADA), { error: { code: -32601 } })
  t.match(await ask(BOB), { error: { data: { code: 'PATCHBAY_SIGN_IN_REQUIRED', command: 'patchbay login linear' } } })
  t.match(await post(app, BOB, 'patchbay/servers/sign-in', { server: 'no' }), {
    error: { code: -32602, message: /no upstream server has the name "no"/ }
  })
})

t.test('where each caller signs in, the console signs in the caller that it has the key of, and no other', async t => {
  const { options } = await openPlace(t, { entry: ENTRY })
  const { app } = await consoleGateway(t, { ...options, apiKeys })
  const { error } = await post(app, BOB, 'patchbay/servers/sign-in', { server: 'linear' })
  t.match(error, { data: { code: 'PATCHBAY_SIGN_IN_REQUIRED', command: 'patchbay login linear --as key:bob', url: /\/sign-in\?link=/ } })
  const { url } = (error as { data: { url: string } }).data
  t.match(await new PageVisitor(app).signIn(url, BOB), { statusCode: 200, body: /You are signed in to <b>linear<\/b>/ })
  await until(async () => (await namesFor(app, BOB)).includes('linear__echo'))
  t.match(await echo(app, BOB, 'hello'), { result: { content: [{ text: /hello/ }] } })
  t.match(await echo(app, ADA, 'hello'), { error: { data: { command: 'patchbay login linear --as key:ada' } } })
})
