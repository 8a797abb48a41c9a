import t from 'tap'
import type { Client, JsonObject } from '../../../console/client/contract.js'
import {
  chooseView, chosenView, followViews, forgetViews, gatewayViews, readOriginal, urlOfView
} from '../../../console/state/gateway-views.js'
import { itemsOf, lists } from '../../../console/state/lists.js'
import { until } from '../../support/wait.js'

const ALL = { kind: 'all', path: '/mcp', tools: 3, resources: 0, prompts: 0, tokens: 90, remarks: ['Cursor cuts'] }
const RELEASE = { ...ALL, kind: 'view', name: 'release', description: 'For those who release', tools: 1, remarks: [] }

const OPERATOR = { extensions: { 'patchbay/watch': {} } }

/** A gateway that answers as the test says. */
function gatewayOf (capabilities: JsonObject, answer: (method: string, params: JsonObject) => JsonObject) {
  const asked: string[] = []
  let heard: (method: string, params: JsonObject) => void = () => {}
  const client: Client = {
    era: 'modern',
    server: { name: 's', version: '1', revision: 'r', capabilities },
    request: async (method, params = {}) => {
      asked.push(method)
      return answer(method, params)
    },
    onNotification: listener => { heard = listener; return () => { heard = () => {} } },
    subscribe: async () => () => {}
  }
  return { client, asked, tell: (method: string) => heard(method, {}) }
}

t.beforeEach(forgetViews)

t.test('an operator gets the views, and again when a list has changed', async t => {
  const rows: JsonObject[] = [ALL, RELEASE]
  const { client, asked, tell } = gatewayOf(OPERATOR, () => ({ views: rows }))
  const end = followViews(client)
  await until(() => gatewayViews.value.length === 2, 'the views')
  t.match(gatewayViews.value, [
    { name: undefined, kind: 'all', tools: 3, tokens: 90, remarks: ['Cursor cuts'] },
    { name: 'release', kind: 'view', description: 'For those who release', tools: 1 }
  ])
  rows.push({ ...ALL, kind: 'server', name: 'github' })
  tell('notifications/message')
  for (const kind of ['tools', 'prompts']) tell(`notifications/${kind}/list_changed`)
  await until(() => gatewayViews.value.length === 3, 'the new view')
  t.equal(asked.length, 2, 'once for both lists')
  end()
  t.equal(gatewayViews.value.length, 3, 'they stay while there is no connection')
})

t.test('rows that cannot be shown are left out', async t => {
  const views = [null, 'x', { kind: 'view' }, { kind: 'other', name: 'x' }, { kind: 'view', name: 3 }, RELEASE]
  const end = followViews(gatewayOf(OPERATOR, () => ({ views })).client)
  await until(() => gatewayViews.value.length > 0, 'the views')
  t.match(gatewayViews.value, [{ name: 'release' }])
  t.equal(gatewayViews.value.length, 1)
  end()
})

t.test('others ask for nothing, and see no views of an operator before them', async t => {
  const operator = followViews(gatewayOf(OPERATOR, () => ({ views: [ALL, RELEASE] })).client)
  await until(() => gatewayViews.value.length === 2, 'the views')
  operator()
  const { client, asked } = gatewayOf({}, () => ({}))
  followViews(client)()
  t.strictSame(asked, [])
  t.strictSame(gatewayViews.value, [])
  t.equal(await readOriginal(client, 'search'), undefined)
  t.strictSame(asked, [])
})

t.test('a gateway that does not know the method has no views', async t => {
  const { client, asked } = gatewayOf(OPERATOR, () => { throw new Error('Method not found') })
  const end = followViews(client)
  await until(() => asked.length === 1, 'the question')
  t.strictSame(gatewayViews.value, [])
  end()
})

t.test('another view begins with empty lists, and has an endpoint of its own', async t => {
  lists.tool.value = { state: 'ready', items: itemsOf([{ name: 'a' }], 'tool') }
  chooseView(undefined)
  t.equal(lists.tool.value.items.length, 1, 'the same view')
  chooseView('release')
  t.equal(chosenView.value, 'release')
  t.match(lists.tool.value, { state: 'loading', items: [] })
  const url = new URL('wss://h/p/mcp')
  t.equal(urlOfView(url, undefined).href, 'wss://h/p/mcp')
  t.equal(urlOfView(url, 'release').href, 'wss://h/p/mcp/release')
  t.equal(url.href, 'wss://h/p/mcp')
})

t.test('an operator gets the original of a tool', async t => {
  const { client, asked } = gatewayOf(OPERATOR, (_method, { name }) => (
    { canonical: `github__${String(name)}`, changed: ['name', 'title'], original: { name: 'x' } }))
  t.strictSame(await readOriginal(client, 'search'), {
    canonical: 'github__search',
    changed: ['name', 'title'],
    definition: { name: 'x' }
  })
  t.strictSame(asked, ['patchbay/views/tool'])
})
