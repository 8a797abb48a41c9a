import t from 'tap'
import type { Client, JsonObject } from '../../../console/client/contract.js'
import { filterItems, groupItems, nearestItem, placeOf } from '../../../console/state/filter.js'
import { clearLists, followLists, itemsOf, lists } from '../../../console/state/lists.js'
import { until } from '../../support/wait.js'
import { bestTime, cpuTime } from '../../support/timing.js'

const named = (...names: string[]) => itemsOf(names.map(name => ({ name, description: `About ${name}` })), 'tool')

/** A server with these pages of tools, and nothing else. */
function server (pages: JsonObject[][]) {
  let listener: (method: string, params: JsonObject) => void = () => {}
  const client: Client = {
    era: 'modern',
    server: { name: 's', version: '1', revision: 'r', capabilities: { tools: {} } },
    request: async (_method, params = {}) => {
      const page = Number(params.cursor ?? 0)
      return { tools: pages[page] ?? [], ...(page + 1 < pages.length ? { nextCursor: String(page + 1) } : {}) }
    },
    onNotification: heard => { listener = heard; return () => { listener = () => {} } },
    subscribe: async () => () => {}
  }
  return { client, tell: (method: string) => listener(method, {}) }
}

t.beforeEach(clearLists)

t.test('lists have all pages, and what a server does not declare is absent', async t => {
  const { client } = server([[{ name: 'a' }], [{ name: 'b' }, { name: 'a' }, { noName: true }]])
  const end = followLists(client)
  await until(() => lists.tool.value.state === 'ready', 'the list')
  t.strictSame(lists.tool.value.items.map(({ key }) => key), ['a', 'b'])
  t.equal(lists.prompt.value.state, 'absent')
  end()
})

t.test('a changed list is loaded again; meanwhile the former is there', async t => {
  const pages = [[{ name: 'a' }]]
  const { client, tell } = server(pages)
  const end = followLists(client)
  await until(() => lists.tool.value.items.length === 1, 'the list')
  pages[0] = [{ name: 'a' }, { name: 'b' }]
  tell('notifications/tools/list_changed')
  t.equal(lists.tool.value.items.length, 1)
  await until(() => lists.tool.value.items.length === 2, 'the new list')
  end()
  pages[0] = []
  tell('notifications/tools/list_changed')
  t.equal(lists.tool.value.items.length, 2)
})

t.test('a list that fails keeps what was there and says why', async t => {
  const { client, tell } = server([[{ name: 'a' }]])
  const end = followLists(client)
  await until(() => lists.tool.value.state === 'ready', 'the list')
  client.request = async () => { throw new Error('no') }
  tell('notifications/tools/list_changed')
  await until(() => lists.tool.value.state === 'failed', 'the failure')
  t.match(lists.tool.value, { error: 'no', items: [{ key: 'a' }] })
  end()
})

t.test('the texts of an item are texts, whatever a server lists', async t => {
  for (const odd of [null, 7, [], {}, { toString: 1 }, 'annotations']) {
    const [item] = itemsOf(
      [
        {
          name: 'a',
          title: odd === 'annotations' ? 3 : odd,
          description: odd === 'annotations' ? 3 : odd,
          annotations: odd
        }
      ],
      'tool'
    )
    t.match(item, { key: 'a', name: 'a', searched: 'a\na\n\n' })
    t.strictSame([item?.title, item?.description], [undefined, undefined])
  }
})

t.test('the filter wants every word, anywhere, in any case', async t => {
  const items = named('Alpha', 'beta', 'alphabet')
  t.strictSame(filterItems(items, ' ALPHA  bout ').map(({ key }) => key), ['Alpha', 'alphabet'])
  t.equal(filterItems(items, ''), items)
})

t.test('items are grouped by their upstream, the own ones first; a limit cuts rows, not counts', async t => {
  const groups = groupItems(named('z__one', 'own', 'a__one', 'z__two', '__odd'), 3)
  t.strictSame(
    groups.map(({ name, items, total }) => [name, items.map(({ key }) => key), total]),
    [
      ['', ['own', '__odd'], 2],
      ['a', ['a__one'], 1],
      ['z', [], 2]
    ]
  )
})

t.test('only names of tools and prompts tell their upstream: those of resources are what any server wrote', async t => {
  const entry = { name: 'github__Secrets', uri: 'test://a', uriTemplate: 'test://{a}' }
  const groups = (['tool', 'prompt', 'resource', 'template'] as const).map(kind => itemsOf([entry], kind)[0]?.group)
  t.strictSame(groups, ['github', 'github', '', ''])
})

t.test('5,000 items are filtered and grouped in much less than 100 ms', async t => {
  const items = named(...Array.from({ length: 5_000 }, (_, index) => `up${index % 9}__tool_${index}`))
  const took = await bestTime(50, async () =>
    cpuTime(() => t.equal(groupItems(filterItems(items, 'tool 49'), 200).length, 9))
  )
  t.ok(took < 50, `${took} ms`)
})

t.test('the first page of a first list is shown while the others come', async t => {
  const { client } = server([[{ name: 'a' }], [{ name: 'b' }]])
  const request = client.request
  let go = (): void => {}
  const later = new Promise<void>(resolve => { go = resolve })
  client.request = async (method, params) => {
    if (params?.cursor !== undefined) await later
    return await request(method, params)
  }
  const end = followLists(client)
  await until(() => lists.tool.value.items.length === 1, 'the first page')
  t.equal(lists.tool.value.state, 'loading')
  go()
  await until(() => lists.tool.value.state === 'ready', 'all pages')
  t.equal(lists.tool.value.items.length, 2)
  end()
})

t.test('a name with a slip in it has a nearest one, other words have none', async t => {
  const items = named('jira__create_issue', 'files__read_file', 'time')
  t.equal(nearestItem(items, 'crate_issue')?.name, 'jira__create_issue')
  t.equal(nearestItem(items, 'tiem')?.name, 'time')
  t.equal(nearestItem(items, 'isue')?.name, 'jira__create_issue')
  t.equal(nearestItem(items, 'readfile')?.name, 'files__read_file')
  for (const typed of ['', 'ti', 'banana', 'x'.repeat(100)]) t.equal(nearestItem(items, typed), undefined)
})

t.test('an item is found at its place in the groups', async t => {
  const items = named('b__x', 'own', 'a__y', 'b__w')
  t.strictSame(['own', 'a__y', 'b__x', 'b__w', 'none'].map(key => placeOf(items, key)), [0, 1, 2, 3, -1])
})
