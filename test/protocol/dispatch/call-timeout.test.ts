import { setImmediate as turn } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Dispatcher } from '../../../protocol/dispatch/dispatcher.js'
import type { Limits } from '../../../protocol/wire/limits.js'
import { client, dispatcher, modern } from '../../support/recorder.js'
import { stopTime } from '../../support/clocks.js'
import { untilAborted } from '../../support/wait.js'

const Anything = Type.Object({})
const never = async (): Promise<never> => await new Promise(() => {})

function limited (
  limits: Partial<Limits>,
  handle: (params: object, call: Call) => object | Promise<object>,
  timed = true
): Dispatcher {
  const mcp = dispatcher({ limits })
  mcp.method('m', Anything, handle, { timed })
  return mcp
}

/** Shows a sign of life again and again until the call is over. */
async function keepWorking (call: Call, wait: () => Promise<void>): Promise<object> {
  for (let step = 1; !call.signal.aborted; step++) {
    call.progress(step)
    await wait()
  }
  return {}
}

t.test('a handler that never settles is answered for when its time is up', async t => {
  const { request, peer } = client(limited({ callTimeout: 20 }, never))
  t.match(await request('m'), { id: 1, error: { code: -32603, message: /given up after \d+ ms/ } })
  t.equal(peer.inbound.size, 0)
})

t.test('a timeout aborts the work', async t => {
  let reason: unknown
  const mcp = limited({ callTimeout: 20 }, async (_params, { signal }) => {
    await untilAborted(signal).catch(() => { reason = signal.reason })
    return {}
  })
  t.match(await client(mcp).request('m'), { error: { code: -32603 } })
  await turn()
  t.match(reason, { name: 'McpError', message: /given up/ })
})

t.test('a signal that is looked at only after the timeout is aborted already', async t => {
  let late: Call | undefined
  const mcp = limited({ callTimeout: 20 }, async (_params, call) => { late = call; return await never() })
  await client(mcp).request('m')
  t.equal(late?.signal.aborted, true)
})

t.test('nothing follows the answer: neither a late result nor late progress', async t => {
  let late: Call | undefined
  let finish: (result: object) => void = () => {}
  const mcp = limited({ callTimeout: 20 }, async (_params, call) => {
    late = call
    return await new Promise<object>(resolve => {
      finish = resolve
    })
  })
  const { request, channel } = client(mcp)
  await request('m', { _meta: { progressToken: 1 } })
  late?.progress(1)
  late?.log('emergency', 'too late')
  late?.notify('notifications/late', {})
  finish({ late: true })
  await turn()
  await turn()
  t.equal(channel.sent.length, 1)
})

t.test('progress extends the deadline, whether the client asked for it or not', async t => {
  const { pass } = stopTime(t)
  let running: Call | undefined
  let finish: (result: object) => void = () => {}
  const { request } = client(
    limited(
      { callTimeout: 400, callTimeoutMax: 10_000 },
      async (_params, call) =>
        await new Promise<object>(resolve => {
          [running, finish] = [call, resolve]
        })
    )
  )
  const answer = request('m')
  for (let step = 1; step <= 6; step++) {
    await pass(399)
    running?.progress(step)
  }
  finish({ done: true })
  t.match(await answer, { result: { done: true } })
})

t.test('progress does not push the end past the hard limit', async t => {
  const { pass, after } = stopTime(t)
  const { ask, channel } = client(
    limited(
      { callTimeout: 50, callTimeoutMax: 200 },
      async (_params, call) => await keepWorking(call, async () => await after(5))
    )
  )
  ask('m')
  await pass(199, 1)
  t.strictSame(channel.sent, [], 'it shows signs of life')
  await pass(1)
  t.match(await channel.next(), { error: { code: -32603, message: /given up after 200 ms/ } })
})

t.test('a sign of life counts up to the hard limit itself', async t => {
  const { pass, after } = stopTime(t)
  const mcp = limited({ callTimeout: 500, callTimeoutMax: 900 }, async (_params, call) => {
    await after(300)
    call.progress(1)
    await after(350)
    return { done: true }
  })
  const answer = client(mcp).request('m')
  await pass(651)
  t.match(await answer, { result: { done: true } }, 'alive 350 ms ago, and 250 ms before the limit')
})

t.test('the hard limit holds even where the other one is longer', async t => {
  const mcp = limited({ callTimeout: 60_000, callTimeoutMax: 50 }, never)
  t.match(await client(mcp).request('m'), { error: { code: -32603 } })
})

t.test('a call without a clock lasts as long as its client', async t => {
  const { pass } = stopTime(t)
  let ended: unknown
  const mcp = limited({ callTimeout: 10, callTimeoutMax: 10 }, async (_params, { signal }) => {
    await untilAborted(signal).catch(() => { ended = signal.reason })
    return {}
  }, false)
  const { ask, peer, channel } = client(mcp)
  ask('m')
  await pass(40)
  t.equal(peer.inbound.size, 1)
  mcp.lifecycle.disconnect(peer, new Error('gone'))
  t.strictSame(channel.sent, [])
  t.equal(channel.ends, 1)
  await turn()
  t.match(ended, { message: 'gone' })
})

t.test('no timer is left when a call is over', async t => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const mcp = limited({ callTimeout: 60_000 }, () => ({}))
  const { request } = client(mcp)
  const before = timers()
  for (let count = 0; count < 20; count++) await request('m')
  t.equal(timers(), before)
})

t.test('progress is sent only to clients that asked, and only when it grows', async t => {
  const mcp = limited({}, (_params, call) => {
    for (const done of [1, 1, 0.5, 2, NaN, 3]) call.progress(done, 3, `at ${done}`)
    return {}
  })
  const silent = client(mcp)
  await silent.request('m')
  t.equal(silent.channel.sent.length, 1)
  for (const progressToken of ['', 0, 'token', 7]) {
    const { ask, channel } = client(mcp)
    ask('m', { _meta: { progressToken } })
    for (const progress of [1, 2, 3]) {
      t.match(await channel.next(), {
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3, message: `at ${progress}` }
      })
    }
    t.match(await channel.next(), { result: {} })
  }
})

t.test('progress that is no finite number is not sent, nor is such a total', async t => {
  const mcp = limited({}, (_params, call) => {
    for (const done of [Infinity, -Infinity, NaN]) call.progress(done, 3)
    for (const [index, total] of [Infinity, NaN, undefined, 4].entries()) call.progress(index + 1, total)
    return {}
  })
  const { ask, channel } = client(mcp)
  ask('m', { _meta: { progressToken: 7 } })
  const notified = [await channel.next(), await channel.next(), await channel.next(), await channel.next()].map(
    ({ params }) => params
  )
  t.strictSame(notified, [
    { progressToken: 7, progress: 1 },
    { progressToken: 7, progress: 2 },
    { progressToken: 7, progress: 3 },
    { progressToken: 7, progress: 4, total: 4 }
  ])
  t.match(await channel.next(), { result: {} })
})

t.test('a channel that cannot stream gets no progress', async t => {
  const mcp = limited({}, (_params, call) => { call.progress(1); return {} })
  const { ask, channel } = client(mcp)
  channel.streams = false
  ask('m', modern({}, { progressToken: 1 }))
  t.match(await channel.next(), { result: {} })
})

t.test('a call that is answered because the time of another is up is not given up as well', async t => {
  const calls: Call[] = []
  let answer = (_result: object): void => {}
  const mcp = dispatcher({ limits: { callTimeout: 20 } })
  mcp.method('first', Anything, async (_params, call) => { calls.push(call); return await never() })
  mcp.method('second', Anything, (_params, call) => {
    calls.push(call)
    // Answers at once, as a handler does that needs not wait any more.
    return { then: (resolve: (result: object) => void) => { answer = resolve } } as unknown as Promise<object>
  })
  const ended: unknown[] = []
  mcp.observers.end.add(({ method }, { outcome }) => {
    ended.push([method, outcome])
    if (method === 'first') calls[1]?.response.send('{"done":true}')
  })
  const { ask, channel } = client(mcp)
  ask('first')
  ask('second')
  await channel.until(() => channel.sent.length === 2)
  answer({})
  await turn()
  t.strictSame(ended, [['first', 'error'], ['second', 'ok']])
  t.strictSame(calls.map(({ signal }) => signal.aborted), [true, false])
  t.equal(channel.sent.length, 2)
})
