import t from 'tap'
import { createClient, resource, tool, type Client } from '../../../app.js'
import { APP_PAGE } from '../../../protocol/definitions/app.js'
import { gateway } from '../../support/gateway.js'

const show = (ui: object, more: object = {}): unknown =>
  tool({ name: 'show', description: 'Shows', ui, ...more, run: () => 'shown' })
const page = (ui: object, more: object = {}): unknown =>
  resource({ uri: 'ui://show/page', name: 'page', ui, ...more, read: () => '<p>page</p>' })

async function served (t: Parameters<typeof gateway>[0]): Promise<Client> {
  const app = await gateway(t, { tools: false })
  app.mcp.tools.add(tool({
    name: 'show',
    description: 'Shows',
    _meta: { own: 1 },
    ui: { resourceUri: 'ui://show/page', visibility: ['app'] },
    run: () => ({ count: 1 })
  }))
  app.mcp.resources.add(resource({
    uri: 'ui://show/page',
    name: 'page',
    ui: { csp: { connectDomains: ['https://api.example.com'] }, permissions: { clipboardWrite: {} } },
    read: () => '<!doctype html><p>page</p>'
  }))
  app.mcp.resources.add(resource({ uri: 'ui://plain', name: 'plain', read: () => '<p>plain</p>' }))
  return await createClient(app)
}

t.test('a tool says its page in both forms, and the page what it needs beside its text', async t => {
  const client = await served(t)
  const { tools } = await client.request('tools/list')
  t.strictSame((tools as Array<{ name: string, _meta?: object }>).find(({ name }) => name === 'show')?._meta, {
    own: 1,
    ui: { resourceUri: 'ui://show/page', visibility: ['app'] },
    'ui/resourceUri': 'ui://show/page'
  })
  const ui = { csp: { connectDomains: ['https://api.example.com'] }, permissions: { clipboardWrite: {} } }
  const { resources } = await client.request('resources/list')
  const listed = (resources as Array<{ uri: string }>).find(({ uri }) => uri === 'ui://show/page')
  t.match(listed, { mimeType: APP_PAGE, _meta: { ui } })
  t.strictSame((await client.request('resources/read', { uri: 'ui://show/page' })).contents, [
    { uri: 'ui://show/page', mimeType: APP_PAGE, _meta: { ui }, text: '<!doctype html><p>page</p>' }
  ])
  t.strictSame((await client.request('resources/read', { uri: 'ui://plain' })).contents, [
    { uri: 'ui://plain', mimeType: APP_PAGE, text: '<p>plain</p>' }
  ], 'a URI that begins with ui:// is enough for the media type')
})

t.test('mistakes in what a tool or page says of its app are named when it is made', async t => {
  const wrong: ReadonlyArray<readonly [() => unknown, RegExp]> = [
    [() => show({ resourceUri: 'https://a.example' }), /tool "show": "ui.resourceUri" must .* begins with ui:/],
    [() => show({ visibility: [] }), /"ui.visibility" must be a list of "model", "app" or both/],
    [() => show({ visibility: ['user'] }), /"ui.visibility" must be/],
    [() => show({ csp: {} }), /there is no "ui.csp"; there are resourceUri, visibility/],
    [() => show({}, { _meta: { ui: {} } }), /both "ui" and "_meta.ui"/],
    [() => page({}, { uri: 'test://page' }), /resource "page": only a resource whose URI begins with ui:/],
    [() => page({}, { mimeType: 'text/html' }), /has the mimeType "text\/html;profile=mcp-app"/],
    [() => page({ csp: { scripts: [] } }), /there is no "ui.csp.scripts"; there are connectDomains,/],
    [() => page({ csp: { connectDomains: ['*; script-src *'] } }), /"ui.csp.connectDomains" must be a list of origins/],
    [() => page({ permissions: { camera: true } }), /"ui.permissions.camera" must be \{\}/],
    [() => page({ prefersBorder: 'yes' }), /"ui.prefersBorder" must be true or false/],
    [() => page({ domain: 1 }), /"ui.domain" must be text/]
  ]
  for (const [make, text] of wrong) t.throws(make, text)
  t.doesNotThrow(() => page({}, { mimeType: APP_PAGE }))
})
