import { unique, type Chapter } from '../cell.js'
import { inTime } from '../../support/wait.js'
import type { Reply } from '../../support/specification/message.js'

/** JSON-RPC itself: ids, batches, what cannot be read. */
export const envelopes: Record<string, Chapter> = {
  'keeps 1, "1", 0 and "" apart': async (t, { client }) => {
    const room = unique('room')
    const started = ([1, '1', 0, ''] as const).map(id =>
      client.start('tools/call', { name: 'meet', arguments: { room, size: 4, canary: `${typeof id} ${id}` } }, { id })
    )
    for (const { id, reply } of started) {
      t.match(await inTime(reply, 'the answer'), { id, result: { content: [{ text: `${typeof id} ${id}` }] } })
    }
  },

  'answers a batch in its order, or refuses it where there are none': async (t, { client, revision }) => {
    const [slow, quick, odd] = [unique('slow'), unique('quick'), unique('odd')]
    const replies = await client.batch([
      { id: slow, method: 'tools/call', params: { name: 'slow', arguments: { steps: 2, delay: 5 } } },
      { method: 'notifications/cancelled', params: { requestId: 'nothing' } },
      { id: quick, method: 'tools/call', params: { name: 'echo', arguments: { text: 'quick' } } },
      { id: odd, method: 'no/such/method', params: {} }
    ])
    if (!revision.batches) return refused(t, replies)
    t.match(replies, [
      { id: slow, result: {} },
      { id: quick, result: { content: [{ text: 'quick' }] } },
      { id: odd, error: { code: -32601 } }
    ])
    t.equal(replies.length, 3)
  },

  'refuses an empty batch': async (t, { client }) => {
    client.sendText('[]')
    t.match(await client.others(), [{ error: { code: -32600 } }])
  },

  'answers for each member of a batch that is no message': async (t, { client, revision, transport }) => {
    // These members do not name a revision, so without a session it is the first.
    const served = revision.batches || (revision.modern && !transport.remembers)
    client.sendText('[1, {"jsonrpc":"2.0"}]')
    const replies = await client.others()
    t.ok(replies.every(({ error }) => error?.code === -32600))
    t.equal(replies.length, served ? 2 : 1)
  },

  'refuses what it cannot read with a reason, and reads on': async (t, { client, revision, transport }) => {
    const named = !revision.modern || !transport.remembers
    for (const [text, code] of [
      ['{', -32700],
      ['7', -32600],
      ['{"jsonrpc":"1.0"}', -32600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600]
    ] as const) {
      client.sendText(text)
      const [reply] = await client.others()
      t.equal(reply?.error?.code, code, text)
      t.equal(reply?.id, named ? null : undefined, `the id of the answer to ${text}`)
      if (transport.http) t.equal(reply?.status, 400)
    }
    t.ok((await client.request('tools/list')).result)
  }
}

function refused (t: Parameters<Chapter>[0], replies: Reply[]): void {
  t.ok(replies.length > 0 && replies.every(({ error }) => error?.code === -32600))
}
