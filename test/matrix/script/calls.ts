import { unique, type Chapter } from '../cell.js'
import type { Client } from '../client.js'
import { meta, textOf, type Json } from '../../support/specification/message.js'

const LOG = 'notifications/message'
const PROGRESS = 'notifications/progress'

/** What happens while a call is answered. */
export const calls: Record<string, Chapter> = {
  'reports progress to a client that asked for it, before the answer': async (t, { client, revision, transport }) => {
    for (const progressToken of [unique('token'), 0, '']) {
      client.notifications.empty()
      const reply = await client.call('slow', { steps: 3, delay: 1 }, { _meta: { progressToken } })
      t.equal(textOf(reply), '3 steps')
      const steps = [1, 2, 3].map(step => ({
        progressToken,
        progress: step,
        total: 3,
        ...(revision.audio ? { message: `step ${step}` } : {})
      }))
      t.strictSame(notificationsOf(client, PROGRESS), transport.streams ? steps : [])
    }
  },

  'reports no progress to a client that did not ask for it': async (t, { client }) => {
    client.notifications.empty()
    await client.call('slow', { steps: 2, delay: 1 })
    t.strictSame(notificationsOf(client, PROGRESS), [])
  },

  'aborts a call that is cancelled and never answers it': async (t, { client, transport }) => {
    const key = unique('hang')
    const { id, cancel } = client.start('tools/call', { name: 'hang', arguments: { key } })
    await client.call('wait_for', { moment: `${key} started` })
    cancel()
    await client.call('wait_for', { moment: `${key} aborted` })
    t.equal(textOf(await client.call('echo', { text: 'still here' })), 'still here')
    t.notOk(client.replies.some(reply => reply.id === id), `no answer over ${transport.name}`)
  },

  'takes no notice of a cancellation that names nothing': async (t, { client, revision, transport }) => {
    if (transport.cancelsByDropping(revision)) return
    client.notify('notifications/cancelled', { requestId: unique('nothing') })
    client.notify('notifications/cancelled', {})
    client.notify('notifications/of/some/plugin', { a: 1 })
    t.equal(textOf(await client.call('echo', { text: 'still here' })), 'still here')
  },

  'logs from the level the client asked for': async (t, { client, revision, transport }) => {
    const logsOf = async (level: string, floor: string | undefined) => {
      client.notifications.empty()
      if (floor !== undefined && !revision.modern) {
        t.strictSame((await client.request('logging/setLevel', { level: floor })).result, {})
      }
      await client.call(
        'say',
        { level, text: 'well' },
        floor !== undefined && revision.modern ? { _meta: { [meta.logLevel]: floor } } : {}
      )
      return notificationsOf(client, LOG)
    }
    const expected = (level: string) => transport.streams ? [{ level, logger: 'say', data: 'well' }] : []
    t.strictSame(await logsOf('info', undefined), [], 'nothing mild unless asked for')
    t.strictSame(await logsOf('info', 'info'), expected('info'))
    t.strictSame(await logsOf('debug', 'info'), [])
    t.strictSame(await logsOf('emergency', 'info'), expected('emergency'))
    t.strictSame(await logsOf('notice', 'error'), [])
  },

  'refuses a level that does not exist': async (t, { client, revision }) => {
    const { error } = revision.modern
      ? await client.call('echo', { text: '' }, { _meta: { [meta.logLevel]: 'loud' } })
      : await client.request('logging/setLevel', { level: 'loud' })
    t.equal(error?.code, -32602)
  }
}

/** The notifications of one method that a client has received so far; the answer that came last closed the list. */
function notificationsOf (client: Client, method: string): Json[] {
  return client.notifications.empty().filter(message => message.method === method).map(({ params = {} }) => params)
}
