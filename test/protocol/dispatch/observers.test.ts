import { Type } from '@sinclair/typebox'
import t from 'tap'
import { client, dispatcher, type Json } from '../../support/recorder.js'

const broken = () => { throw new Error('a secret of the listener') }

function observed () {
  const mcp = dispatcher()
  mcp.method('m', Type.Object({}), () => ({ fine: true }))
  const logged: Json[] = []
  mcp.observers.log.add((level, data) => { logged.push({ level, ...data as Json }) })
  return { mcp, logged, ...client(mcp) }
}

for (const [name, event] of [['onBegin', 'begin'], ['onEnd', 'end'], ['onLog', 'log']] as const) {
  t.test(`a listener of ${name} that throws harms neither the call nor the others, and is logged once`, async t => {
    const { mcp, logged, request } = observed()
    const received: number[] = []
    mcp.observers[event].add(broken)
    mcp.observers[event].add(() => { received.push(1) })
    mcp.use(async (call, next) => { call.log('debug', { said: true }); return await next() })
    t.match(await request('m'), { id: 1, result: { fine: true } })
    t.match(await request('m'), { id: 2, result: { fine: true } })
    t.ok(received.length >= 2, 'the second is told of every call')
    t.match(
      logged.filter(({ listener }) => listener !== undefined),
      [{ level: 'error', listener: name, err: { message: 'a secret of the listener' } }]
    )
    t.equal(logged.filter(({ listener }) => listener !== undefined).length, 1)
  })

  t.test(`a second listener of ${name} does not replace the first, and each can be removed`, async t => {
    const { mcp, request } = observed()
    const received: string[] = []
    mcp.use(async (call, next) => { call.log('debug', {}); return await next() })
    const removeFirst = mcp.observers[event].add(() => { received.push('first') })
    const removeSecond = mcp.observers[event].add(() => { received.push('second') })
    await request('m')
    t.strictSame(received, ['first', 'second'])
    removeFirst()
    await request('m')
    t.strictSame(received.splice(0), ['first', 'second', 'second'])
    removeSecond()
    await request('m')
    t.strictSame(received, [])
  })
}

t.test('all listeners of the drain are called, and the drain goes on', async t => {
  const { mcp, logged } = observed()
  let calls = 0
  mcp.lifecycle.onDrain(broken)
  mcp.lifecycle.onDrain(() => { calls++ })
  const remove = mcp.lifecycle.onDrain(() => { calls++ })
  remove()
  await mcp.lifecycle.drain()
  await mcp.lifecycle.drain()
  t.equal(calls, 1)
  t.match(logged, [{ level: 'error', listener: 'onDrain' }])
})

t.test('an error without a code is never sent: the client gets an id that the log has, too', async t => {
  const { logged, peer, channel, send } = observed()
  // It is looked at before there is a call.
  Object.defineProperty(peer, 'conversation', { get: () => { throw new TypeError('cannot read a secret') } })
  send({ jsonrpc: '2.0', id: 7, method: 'm' })
  const { id, error } = (await channel.next()) as {
    id: number
    error: { code: number, message: string, data: { correlation: string } }
  }
  t.strictSame([id, error.code], [7, -32603])
  t.match(error.message, /^Internal error/)
  t.notMatch(JSON.stringify(error), /secret/)
  t.match(logged, [{ level: 'error', correlation: error.data.correlation, err: { message: 'cannot read a secret' } }])
})
