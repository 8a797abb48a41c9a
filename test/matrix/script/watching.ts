import { inTime } from '../../support/wait.js'
import { meta, type Json } from '../../support/specification/message.js'
import { unique, type Chapter } from '../cell.js'

const WATCH = 'notifications/patchbay/watch'

/** What operators are told of the gateway, at whichever node it is. */
export const watching: Record<string, Chapter> = {
  'tells a watcher what the gateway does, and nothing of what calls say': async (
    t,
    { client, revision, transport }
  ) => {
    if (!transport.streams) {
      t.equal((await client.request('patchbay/watch')).error?.code, -32600)
      return
    }
    const started = client.start('patchbay/watch', {}, { id: 'watch' })
    const first = await client.notified(WATCH)
    t.match(first, {
      requestId: 'watch',
      at: Number,
      gateway: { name: 'mcp-patchbay', version: String, startedAt: Number },
      health: { status: 'healthy', ready: true }
    })
    t.match(
      (first.inFlight as { rows: Json[] }).rows.find(({ own }) => own === true),
      { method: 'patchbay/watch', revision: revision.version, transport: String }
    )
    t.strictSame(first._meta, revision.modern ? { [meta.subscription]: 'watch' } : undefined)
    const canary = unique('canary')
    await client.call('echo', { text: canary })
    const later = [await client.notified(WATCH), await client.notified(WATCH, ({ seconds }) => seconds !== undefined)]
    for (const batch of later) t.equal(batch.requestId, 'watch')
    t.notMatch(JSON.stringify([first, ...later]), canary)
    started.cancel()
    if (!transport.cancelsByDropping(revision)) await inTime(client.request('tools/list'), 'an answer after the watch')
    client.notifications.empty()
  }
}
