import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Frame, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { policyOf } from '../../../routes/console/sandbox.js'
import { until } from '../../support/wait.js'
import { checkAccessibility } from '../support/axe.js'
import { withBrowser } from '../support/browser.js'
import { consoleGateway } from '../support/open.js'
import { call, chooseEra, connected, openTool, writeArguments } from '../support/steps.js'
import { visit } from '../support/visit.js'
import { dice } from './dice.js'

const SLOW = { ...withBrowser, timeout: 240_000 }
/** The page of the tests asks one origin; the sandbox is on another one of the same gateway. */
const SANDBOX = /^asked http:\/\/localhost:\d+\/console\/sandbox\.html/
const SIX = '⚅'

interface Opened extends Frames { page: Page, url: string, mcp: Parameters<typeof chooseEra>[2] }
interface Frames { view: Frame, proxy: Frame, policy: string }

/** The console with the app of docs/apps.md, or another page, after a call of its tool. */
async function opened (t: Test, app: Parameters<typeof dice>[1] = {}, expected: RegExp[] = []): Promise<Opened> {
  const { app: mcp, url } = await consoleGateway(t)
  await dice(mcp, app)
  const page = await visit(t, url, { expected: [SANDBOX, ...expected] })
  await connected(page)
  return { url, page, mcp, ...await roll(page) }
}

async function roll (page: Page): Promise<Frames> {
  const reply = page.waitForResponse(/sandbox\.html/)
  await openTool(page, 'roll_dice')
  await writeArguments(page, { count: 3 })
  await call(page)
  const { 'content-security-policy': policy = '' } = (await reply).headers()
  await until(() => page.frames().length === 3, 'the frames')
  const [, proxy, view] = page.frames()
  if (proxy === undefined || view === undefined) throw new Error('no frames')
  return { view, proxy, policy }
}

/** Evaluates in a frame; what it throws is its text. */
const tried = async (frame: Frame, code: string): Promise<unknown> =>
  await frame.evaluate(`(async () => { try { return await (${code}) } catch (error) { return String(error.message ?? error) } })()`) ?? 'null'

t.test('the app of the docs is shown after a call, and calls its tool, in both eras', SLOW, async t => {
  const { page, mcp, view } = await opened(t)
  await view.getByText(SIX.repeat(3).split('').join(' ')).waitFor()
  await view.getByRole('button', { name: 'Again' }).click()
  await view.getByText(`${SIX} ${SIX}`, { exact: true }).waitFor()
  await page.getByText('What the app did').click()
  await page.getByText('called "roll_dice"').waitFor()
  await checkAccessibility(t, page, 'an app')
  await page.getByRole('button', { name: 'Close the app' }).click()
  await page.getByText('The app was closed.').waitFor()
  t.equal(page.frames().length, 1)

  await chooseEra(page, '2025-11-25', mcp)
  const legacy = await roll(page)
  await legacy.view.getByText(`${SIX} ${SIX} ${SIX}`).waitFor()
})

t.test('a page reaches nothing of the console: no storage, no document, no other host', SLOW, async t => {
  const { page, url, view, proxy, policy } = await opened(t, {}, [/violation of connect-src/, /Connecting to/, /Fetch API/])
  await view.getByText(SIX).first().waitFor()
  await page.evaluate("sessionStorage.setItem('secret', 'of the console')")
  t.equal(policy, policyOf({}, url))
  t.equal(await view.evaluate('origin'), 'null')
  t.equal(new URL(String(await proxy.evaluate('origin'))).hostname, 'localhost')
  for (const code of ['localStorage', 'sessionStorage', 'document.cookie', 'parent.document', 'top.document', 'top.sessionStorage']) {
    t.match(await tried(view, code), /sandboxed|Blocked|access|denied/i, code)
  }
  t.match(await tried(proxy, 'parent.document'), /Blocked|access/i)
  // Browsers may give a frame of another site no storage at all; what it has is its own.
  t.match(await tried(proxy, "sessionStorage.getItem('secret')"), /^null$|denied/)
  t.equal(await proxy.evaluate('document.cookie'), '')
  t.match(await tried(view, `fetch('${url}/health').then(() => 'fetched')`), /fetch/i)
})

t.test('the policy has the domains of the page, and its user reads which', SLOW, async t => {
  const csp = { connectDomains: ['https://api.example.com'], resourceDomains: ['https://*.cdn.example.com'] }
  const { page, url, view, policy } = await opened(t, { csp })
  await view.getByText(SIX).first().waitFor()
  t.equal(policy, policyOf(csp, url))
  await page.getByText('It may reach https://api.example.com, https://*.cdn.example.com.').waitFor()
})

t.test('messages of a wrong window or origin are dropped, at both ends', SLOW, async t => {
  const { page, view, proxy } = await opened(t)
  await view.getByText(SIX).first().waitFor()
  const link = "{ jsonrpc: '2.0', id: 'x', method: 'ui/open-link', params: { url: 'https://a.example' } }"
  const html = "{ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params: { html: 'replaced' } }"
  const size = "{ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 321 } }"
  // Past the sandbox; of the console itself; to the sandbox by itself; and what only the sandbox may say.
  await view.evaluate(`top.postMessage(${link}, '*')`)
  await page.evaluate(`postMessage(${link}, '*')`)
  await proxy.evaluate(`postMessage(${html}, '*')`)
  await view.evaluate(`parent.postMessage(${html}, '*')`)
  // Messages keep their order, so what comes of these would be there when this one has come.
  await view.evaluate(`parent.postMessage(${size}, '*')`)
  await until(async () => await page.locator('.app iframe').getAttribute('height') === '321', 'the size')
  t.strictSame(await view.evaluate("request('ping', {})"), {})
  t.equal(await page.getByRole('group', { name: 'The app asks' }).count(), 0)
  t.equal(page.frames().length, 3)
  t.notMatch(await view.evaluate('document.body.textContent'), /replaced/)
})

t.test('a page calls no tool that is not for it, and destroys and opens nothing before its user says so', SLOW, async t => {
  const { page, url, view } = await opened(t)
  await view.getByText(SIX).first().waitFor()
  t.match(await tried(view, "request('tools/call', { name: 'for_models' })"), /no tool "for_models" that apps may call/)
  t.match(await tried(view, "request('ui/open-link', { url: 'javascript:alert(1)' })"), /Only http and https/)

  const refused = tried(view, "request('tools/call', { name: 'remove_dice', arguments: {} })")
  await page.getByText('remove_dice {}').waitFor()
  t.match(await tried(view, `request('ui/open-link', { url: '${url}/health' })`), /asks its user something else already/)
  await page.getByRole('button', { name: 'Refuse' }).click()
  t.equal(await refused, 'The user refused')

  const removed = tried(view, "request('tools/call', { name: 'remove_dice', arguments: {} })")
  await page.getByRole('button', { name: 'Call it' }).click()
  t.match(await removed, { content: [{ text: 'removed' }] })

  const opening = tried(view, `request('ui/open-link', { url: '${url}/health' })`)
  const popup = page.waitForEvent('popup')
  await page.getByRole('button', { name: /^Open 127/ }).click()
  t.strictSame(await opening, {})
  t.equal((await popup).url(), `${url}/health`)
})

const SDK = fileURLToPath(new URL('../../../../node_modules/@modelcontextprotocol/ext-apps', import.meta.url))
const isInstalled = existsSync(SDK)
const withSdk = isInstalled ? SLOW : { skip: 'not installed: @modelcontextprotocol/ext-apps' }

t.test('the class App of the official package works in the console', withSdk, async t => {
  const { outputFiles: [{ text = '' } = {}] } = await build({
    stdin: { contents: SDK_PAGE, resolveDir: SDK },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    minify: true,
    write: false
  })
  // Its checks try whether the page may make code of text.
  const { page, view } = await opened(t, { html: `<!doctype html><p id="shown"></p><script>${text}</script>` }, [/eval/])
  await view.getByText('input 3, result 6,6,6, called 6, host patchbay-console, read text/html;profile=mcp-app').waitFor()
  await until(async () => await page.locator('.app iframe').getAttribute('height') !== '150', 'its size')
})

const SDK_PAGE = `
import { App } from '@modelcontextprotocol/ext-apps/app-with-deps'
void (async () => {
const app = new App({ name: 'dice', version: '1' }, {})
const said = []
const finished = Promise.all([
  new Promise(resolve => { app.ontoolinput = ({ arguments: { count } }) => { said.push('input ' + count); resolve() } }),
  new Promise(resolve => { app.ontoolresult = ({ structuredContent }) => { said.push('result ' + structuredContent.dice); resolve() } })
])
await app.connect()
await finished
said.push('called ' + (await app.callServerTool({ name: 'roll_dice', arguments: { count: 1 } })).structuredContent.dice)
said.push('host ' + app.getHostVersion().name)
said.push('read ' + (await app.readServerResource({ uri: 'ui://dice/page.html' })).contents[0].mimeType)
document.getElementById('shown').textContent = said.join(', ')
})()
`
