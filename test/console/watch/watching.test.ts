import t from 'tap'
import { Cancelled, RpcError, type Client, type Handlers, type JsonObject } from '../../../console/client/contract.js'
import { Feed } from '../../../console/watch/feed.js'
import { oncePerFrame, watch } from '../../../console/watch/watching.js'

const FIRST = { requestId: 7, at: 0, gateway: { name: 'patchbay', version: '1', startedAt: 0 } }

/** A client whose one request is settled by the test. */
function fakeClient () {
  const listeners = new Set<(method: string, params: JsonObject) => void>()
  const sent: Array<{ method: string, handlers: Handlers | undefined }> = []
  let resolve: (result: JsonObject) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<JsonObject>((...both) => { [resolve, reject] = both })
  const client: Client = {
    era: 'legacy',
    server: { name: 'x', version: '1', revision: 'any', capabilities: {} },
    request: async (method, _params, handlers) => {
      sent.push({ method, handlers })
      handlers?.signal?.addEventListener('abort', () => reject(new Cancelled('cancelled')))
      return await promise
    },
    onNotification: listener => {
      listeners.add(listener)
      return () => { listeners.delete(listener) }
    },
    subscribe: async () => () => {}
  }
  return {
    client,
    sent,
    listeners,
    resolve,
    reject,
    notify: (method: string, params: JsonObject) => {
      for (const listener of listeners) listener(method, params)
    }
  }
}

function watched () {
  const fake = fakeClient()
  let changes = 0
  const why: string[] = []
  const leave = watch(fake.client, new Feed(), { changed: () => { changes++ }, ended: reason => why.push(reason) })
  return { ...fake, leave, why, changes: () => changes }
}

const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

t.test('a watch is one request, and its batches go to the feed', async t => {
  const { sent, notify, changes } = watched()
  notify('notifications/patchbay/watch', FIRST)
  notify('notifications/message', FIRST)
  t.strictSame(sent.map(({ method }) => method), ['patchbay/watch'])
  t.equal(changes(), 1)
})

t.test('leaving cancels the request, listens to nothing more and tells no reason', async t => {
  const { sent, listeners, leave, why } = watched()
  leave()
  await settled()
  t.equal(sent[0]?.handlers?.signal?.aborted, true)
  t.equal(listeners.size, 0)
  t.strictSame(why, [])
})

t.test('a gateway that ends the watch, or refuses it, is told about', async t => {
  const drained = watched()
  drained.resolve({})
  const refused = watched()
  refused.reject(new RpcError(-32000, 'there are 32 watchers already'))
  await settled()
  t.match(drained.why, [/shutting down/])
  t.strictSame(refused.why, ['there are 32 watchers already'])
  t.equal(drained.listeners.size + refused.listeners.size, 0)
})

t.test('work is done once a frame, and not after it was forgotten', async t => {
  const frames: Array<() => void> = []
  const forgotten: number[] = []
  let done = 0
  const frame = oncePerFrame(() => { done++ }, run => frames.push(run), asked => { forgotten.push(asked) })
  frame.ask()
  frame.ask()
  t.equal(frames.length, 1)
  frames[0]?.()
  t.equal(done, 1)
  frame.ask()
  frame.forget()
  frame.forget()
  t.strictSame(forgotten, [2])
})
