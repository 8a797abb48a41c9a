import t from 'tap'
import { domainsOf, pageUriOf, readPage, sandboxUrl } from '../../../console/apps/page.js'
import { resourceFor, toolFor, type Reach } from '../../../console/apps/same-server.js'
import type { Client, JsonObject } from '../../../console/client/contract.js'
import { itemsOf } from '../../../console/state/lists.js'

const TYPE = 'text/html;profile=mcp-app'
const NONE = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }

const clientOf = (...contents: JsonObject[]): Client =>
  ({ request: async () => ({ contents }) }) as unknown as Client

t.test('a tool names its page in either form, and only one whose URI begins with ui://', async t => {
  t.equal(pageUriOf({ _meta: { ui: { resourceUri: 'ui://a' }, 'ui/resourceUri': 'ui://b' } }), 'ui://a')
  t.equal(pageUriOf({ _meta: { 'ui/resourceUri': 'ui://b' } }), 'ui://b')
  for (const _meta of [undefined, null, [], {}, { ui: 1 }, { ui: { resourceUri: 'https://a.example' } }, { ui: { resourceUri: 7 } }]) {
    t.equal(pageUriOf({ ...(_meta !== undefined && { _meta }) } as JsonObject), undefined, JSON.stringify(_meta))
  }
})

t.test('a page is read as text or blob, with what its contents or its list entry say', async t => {
  const csp = { connectDomains: ['https://a.example'] }
  t.strictSame(await readPage(clientOf({ mimeType: TYPE, text: '<p>é' }), 'ui://a', undefined), {
    html: '<p>é', domains: NONE, refused: [], hasBorder: true
  })
  const blob = Buffer.from('<p>é').toString('base64')
  const own = { mimeType: TYPE, blob, _meta: { ui: { csp, prefersBorder: false } } }
  t.strictSame(await readPage(clientOf(own), 'ui://a', { _meta: { ui: { csp: { frameDomains: ['https://b.example'] } } } }), {
    html: '<p>é', domains: { ...NONE, ...csp }, refused: [], hasBorder: false
  }, 'the contents win over the entry of the list')
  t.match(await readPage(clientOf({ mimeType: TYPE, text: '' }), 'ui://a', { _meta: { ui: { csp } } }), {
    domains: csp
  })
  await t.rejects(readPage(clientOf(), 'ui://a', undefined), { message: 'the server sent no page' })
  await t.rejects(readPage(clientOf({ mimeType: 'text/html', text: '' }), 'ui://a', undefined), { message: /"text\/html", not/ })
  await t.rejects(readPage(clientOf({ mimeType: TYPE }), 'ui://a', undefined), { message: /without text/ })
})

t.test('of the domains that are declared, the policy gets those that are sources, and the user reads of the others', async t => {
  t.strictSame(domainsOf({ connectDomains: ['https://a.example', 'https://a;script-src *'], resourceDomains: 'all', other: ['https://b.example'] }), {
    domains: { ...NONE, connectDomains: ['https://a.example'] },
    refused: ['"https://a;script-src *"']
  })
  const url = sandboxUrl('http://127.0.0.1:8080/x/console/#/try', { ...NONE, connectDomains: ['https://a.example', 'wss://b.example'] })
  t.equal(url?.href, 'http://localhost:8080/x/console/sandbox.html?connectDomains=https%3A%2F%2Fa.example&connectDomains=wss%3A%2F%2Fb.example')
  t.equal(sandboxUrl('https://mcp.example.com/console/', NONE), undefined)
})

const tool = (name: string, _meta: object = {}): JsonObject => ({ name, _meta } as JsonObject)
const tools = itemsOf([
  tool('dice__roll', { ui: { resourceUri: 'ui://dice' } }),
  tool('dice__hidden', { ui: { visibility: ['model'] } }),
  tool('dice__only', { ui: { visibility: ['app'] } }),
  tool('other__roll'),
  tool('own', { ui: { resourceUri: 'ui://own' } }),
  tool('plain'),
  tool('roll')
], 'tool')
const reach = (name: string, isView = false): Reach => {
  const shown = tools.find(({ key }) => key === name)
  if (shown === undefined) throw new Error(name)
  return { shown, tools, isView }
}

t.test('a page calls tools of its own server by either name, if they are for apps, and no others', async t => {
  const rows: Array<[shown: string, name: unknown, found: string | undefined]> = [
    ['dice__roll', 'roll', 'dice__roll'],
    ['dice__roll', 'dice__roll', 'dice__roll'],
    ['dice__roll', 'only', 'dice__only'],
    ['dice__roll', 'hidden', undefined],
    ['dice__roll', 'other__roll', undefined],
    ['dice__roll', 'own', undefined],
    ['dice__roll', undefined, undefined],
    ['own', 'plain', 'plain'],
    ['own', 'dice__roll', undefined]
  ]
  for (const [shown, name, found] of rows) t.equal(toolFor(reach(shown), name)?.key, found, `${shown} calls ${String(name)}`)
  t.equal(toolFor(reach('own', true), 'plain'), undefined, 'in a view, names do not say which server a tool is of')
  t.equal(toolFor(reach('own', true), 'own')?.key, 'own')
})

t.test('a page reads resources of its own server, by URIs that lead to no other', async t => {
  const rows: Array<[shown: string, uri: unknown, own: string | undefined]> = [
    ['dice__roll', 'ui://dice', 'ui://dice'],
    ['dice__roll', 'ui://more', 'ui://dice+more'],
    ['dice__roll', 'ui://other+more', 'ui://dice+other+more'],
    ['dice__roll', 'file:///a', 'dice+file:///a'],
    ['dice__roll', 'dice+file:///a', 'dice+file:///a'],
    ['dice__roll', 1, undefined],
    ['own', 'note:///a', 'note:///a']
  ]
  for (const [shown, uri, own] of rows) t.equal(resourceFor(reach(shown), uri), own, `${shown} reads ${String(uri)}`)
  t.equal(resourceFor(reach('own', true), 'note:///a'), undefined)
  t.equal(resourceFor(reach('own', true), 'ui://own'), 'ui://own')
})
