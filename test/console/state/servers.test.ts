import t from 'tap'
import type { Client, Handlers, JsonObject } from '../../../console/client/contract.js'
import { itemsOf } from '../../../console/state/lists.js'
import { canStart, failingOf, followServers, outlookOf, servers, serversShown } from '../../../console/state/servers.js'

const FAILED = { alias: 'jira', state: 'crash loop', failing: true as const }

/** A gateway that tells what the test says, and whether it is watched. */
function gatewayOf (capabilities: JsonObject) {
  const asked: Array<{ method: string, params: JsonObject, handlers: Handlers }> = []
  let heard: (method: string, params: JsonObject) => void = () => {}
  const client: Client = {
    era: 'modern',
    server: { name: 's', version: '1', revision: 'r', capabilities },
    request: async (method, params = {}, handlers = {}) => {
      asked.push({ method, params, handlers })
      return await new Promise(() => {})
    },
    onNotification: listener => { heard = listener; return () => { heard = () => {} } },
    subscribe: async () => () => {}
  }
  return { client, asked, tell: (params: JsonObject) => heard('notifications/patchbay/watch', params) }
}

t.test('a caller who may watch hears of the servers alone, until it leaves', async t => {
  const { client, asked, tell } = gatewayOf({ extensions: { 'patchbay/watch': {} } })
  const end = followServers(client)
  t.match(asked, [{ method: 'patchbay/watch', params: { only: ['upstreams', 'approvals'] } }])
  tell({ upstreams: [FAILED, { alias: 3 }, null, 'x'] as never })
  t.strictSame(servers.value, [FAILED], 'what cannot be shown is left out')
  tell({ upstreams: 'odd' })
  t.strictSame(failingOf(servers.value), [FAILED])
  end()
  t.equal(asked[0]?.handlers.signal?.aborted, true)
  t.strictSame(servers.value, [])
})

t.test('others ask for nothing', async t => {
  const { client, asked } = gatewayOf({})
  followServers(client)()
  t.strictSame(asked, [])
})

t.test('a server stands in the list while it fails, or starts and offers nothing yet', async t => {
  const items = itemsOf([{ name: 'files__read' }, { name: 'jira__create' }], 'tool')
  const all = [
    FAILED,
    { alias: 'files', state: 'stopped' },
    { alias: 'mail', state: 'starting' },
    { alias: 'ready', state: 'ready' },
    { alias: 'off', state: 'disabled' },
    {
      alias: 'wrong',
      state: 'misconfigured',
      failing: true as const,
      lastError: 'option mcpServers.wrong.args must be a list of strings'
    }
  ]
  t.strictSame(serversShown(all, items, '').map(({ alias }) => alias), ['jira', 'mail', 'wrong'])
  t.strictSame(
    serversShown(
      [
        { alias: 'odd', state: 'ready', warnings: ['tool "x" is left out'] },
        { alias: 'files', state: 'ready', warnings: ['y'] },
        { alias: 'held', state: 'ready', pins: { mode: 'hold' as const, differences: ['never accepted'], marks: [] } },
        { alias: 'same', state: 'ready', pins: { mode: 'hold' as const, differences: [], marks: [] } },
        { alias: 'strange', state: 'ready', pins: 'x' as never }
      ],
      items,
      ''
    ).map(({ alias }) => alias),
    ['odd', 'held'],
    'and one that runs, if nothing of it could be listed'
  )
  t.strictSame(serversShown(all, items, 'MAI').map(({ alias }) => alias), ['mail'])
})

t.test('how a server goes on is told in a sentence', async t => {
  t.equal(
    outlookOf({ alias: 'a', state: 'backing off', failing: true, nextTryAt: 12_000 }, 10_000),
    'It is tried again in 2 s.'
  )
  t.match(outlookOf(FAILED, 0), /not started again by itself/)
  t.match(outlookOf({ alias: 'a', state: 'stopped' }, 0), /when it is needed/)
  t.match(
    outlookOf({ alias: 'a', state: 'misconfigured', failing: true }, 0),
    /^It is left out\. Mend its configuration/
  )
  t.equal(canStart({ alias: 'a', state: 'misconfigured', failing: true }), false)
  t.match(outlookOf({ alias: 'a', state: 'needs sign-in', failing: true }, 0), /^A person has to sign in: here, or with patchbay login a /)
  t.equal(canStart({ alias: 'a', state: 'needs sign-in', failing: true }), true)
  t.equal(outlookOf({ alias: 'a', state: 'ready' }, 0), '')
})
