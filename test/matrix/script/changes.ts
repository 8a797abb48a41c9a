import { unique, type Cell, type Chapter } from '../cell.js'
import type { Client } from '../client.js'
import { inTime } from '../../support/wait.js'
import { meta, type Id, type Json } from '../../support/specification/message.js'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const UPDATED = 'notifications/resources/updated'
const KINDS = ['tool', 'prompt', 'resource'] as const

/**
 * Changes are notified to every client with a stream: unasked before the stateless revision, and to listeners in it.
 */
export const changes: Record<string, Chapter> = {
  'announces what is added and removed': async (t, { client, revision, transport }) => {
    if (!transport.streams) return
    const listener = await listen(client, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true
    })
    for (const kind of KINDS) {
      const name = unique(kind)
      for (const change of ['add', 'remove']) {
        await client.call(`${change}_${kind}`, { name })
        const params = await client.notified(`notifications/${kind}s/list_changed`)
        t.strictSame(params, revision.modern ? about(listener) : {}, `${change} ${kind}`)
      }
    }
    listener?.cancel()
  },

  'notifies subscribers of a changed resource until they unsubscribe': async (t, cell) => {
    if (!cell.transport.streams || cell.revision.modern) return
    const { client } = cell
    for (const uri of ['test://text', 'test://bytes', 'test://item/5']) {
      t.strictSame((await client.request('resources/subscribe', { uri })).result, {})
    }
    await client.call('touch', { uri: 'test://item/5' })
    t.strictSame(await client.notified(UPDATED), { uri: 'test://item/5' })
    t.strictSame((await client.request('resources/unsubscribe', { uri: 'test://text' })).result, {})
    t.strictSame(await updates(client, ['test://text', 'decorated://one', 'test://bytes']), ['test://bytes'])
    t.equal((await client.request('resources/subscribe', { uri: 'nothing://here' })).error?.code, -32002)
  },

  'acknowledges a listener first and then notifies it of what it asked for only': async (t, cell) => {
    if (!cell.transport.streams || !cell.revision.modern) return
    const { client } = cell
    client.notifications.empty()
    const filter = { promptsListChanged: true, resourceSubscriptions: ['test://bytes'] }
    const listener = client.start('subscriptions/listen', { notifications: filter }, { id: 'listener' })
    const first = await client.notifications.take('the first notification')
    t.strictSame([first.method, first.params], [ACKNOWLEDGED, { ...about(listener), notifications: filter }])
    const name = unique('tool')
    await client.call('add_tool', { name })
    await client.call('remove_tool', { name })
    t.strictSame(await updates(client, ['test://text', 'test://bytes']), ['test://bytes'])
    t.notOk(client.notifications.empty().some(({ method }) => method === 'notifications/tools/list_changed'))
    listener.cancel()
  },

  'notifies a listener no more after it stopped, and another one of everything': async (t, cell) => {
    if (!cell.transport.streams || !cell.revision.modern) return
    const { client } = cell
    const [one, two] = [
      await listen(client, { resourceSubscriptions: ['test://text'] }),
      await listen(client, { resourceSubscriptions: ['test://text', 'test://bytes'] })
    ]
    one?.cancel()
    await untilOne(cell, 'test://text')
    client.notifications.empty()
    await client.call('touch', { uri: 'test://text' })
    await client.call('touch', { uri: 'test://bytes' })
    await client.notified(UPDATED, ({ uri }) => uri === 'test://bytes')
    const left = client.notifications.empty().filter(({ method }) => method === UPDATED)
    t.strictSame(left.map(({ params }) => params), [{ ...about(two), uri: 'test://text' }])
    two?.cancel()
  },

  'has no listeners where nothing can be pushed': async (t, { client, revision, transport }) => {
    if (transport.streams || !revision.modern) return
    t.equal(
      (await client.request('subscriptions/listen', { notifications: { toolsListChanged: true } })).error?.code,
      -32600
    )
  }
}

const about = (listener: { id: Id } | undefined): Json => ({ _meta: { [meta.subscription]: listener?.id } })

/** Starts to listen where the revision requires it, and waits for the acknowledgement. */
export async function listen (client: Client, notifications: Json): Promise<ReturnType<Client['start']> | undefined> {
  client.notifications.empty()
  if (!client.revision.modern) return undefined
  const listener = client.start('subscriptions/listen', { notifications })
  await client.notified(ACKNOWLEDGED, params => (params._meta as Json)[meta.subscription] === listener.id)
  return listener
}

/** The resources a client is notified of while some are touched; it must be subscribed to the last one. */
async function updates (client: Client, touched: string[]): Promise<unknown[]> {
  client.notifications.empty()
  const notified: unknown[] = []
  for (const uri of touched) await client.call('touch', { uri })
  do notified.push((await client.notified(UPDATED)).uri); while (notified.at(-1) !== touched.at(-1))
  return notified
}

// A dropped connection takes a moment to be noticed, so the resource is touched until only one listener is notified.
async function untilOne ({ client }: Cell, uri: string): Promise<void> {
  const settle = async () => {
    for (;;) {
      client.notifications.empty()
      await client.call('touch', { uri })
      await client.notified(UPDATED)
      await client.call('echo', { text: '' })
      if (!client.notifications.empty().some(({ method }) => method === UPDATED)) return
    }
  }
  await inTime(settle(), 'the end of a listener')
}
