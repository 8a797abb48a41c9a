import { getEventListeners } from 'node:events'
import t from 'tap'
import { ConnectionLost, type JsonObject } from '../../../console/client/contract.js'
import { connectModern } from '../../../console/client/modern.js'
import { Session } from '../../../console/client/session.js'

/** A session of a server that asks in each round, or answers when `isDone` says so. */
function askingSession (isDone: () => boolean): Session {
  const session: Session = new Session(text => {
    const { id, method } = JSON.parse(text) as { id?: number, method: string }
    const result =
      method !== 'tools/call' || isDone()
        ? {}
        : { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } }
    if (id !== undefined) queueMicrotask(() => session.receive(JSON.stringify({ jsonrpc: '2.0', id, result })))
  }, () => {})
  return session
}

t.test('a round that is answered leaves nothing that listens', async t => {
  let rounds = 0
  const session = askingSession(() => rounds >= 20)
  const client = await connectModern(session, {})
  const { signal } = new AbortController()
  const listeners: number[] = []
  await client.request(
    'tools/call',
    {},
    {
      signal,
      onQuestion: ({ answer }) => {
        rounds++
        listeners.push(getEventListeners(signal, 'abort').length)
        answer({ roots: [] })
      }
    }
  )
  t.equal(rounds, 20)
  t.ok(Math.max(...listeners) <= 1, String(listeners))
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

t.test('a connection that has ended before a question is asked takes the call with it', async t => {
  const session = askingSession(() => false)
  const client = await connectModern(session, {})
  const asked: JsonObject[] = []
  const call = client.request(
    'tools/call',
    {},
    {
      onQuestion: ({ params }) => {
        asked.push(params)
        session.close(new ConnectionLost('gone'))
      }
    }
  )
  await t.rejects(call, { name: 'ConnectionLost', message: 'gone' })
  t.equal(asked.length, 1)
  t.same(
    await Promise.race([
      new Promise<never>((_resolve, reject) => {
        session.onClose(reject)
      }).catch((error: Error) => error.message)
    ]),
    'gone',
    'also later listeners are told'
  )
})
