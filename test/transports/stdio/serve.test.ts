import { EventEmitter, once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveStdio, tool } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { Peer } from '../../../protocol/peer/peer.js'
import { inTime, until, within } from '../../support/wait.js'

type Json = Record<string, unknown>

/** A standard output whose reader reads only when the test calls for it. */
class Output extends Writable {
  text = ''
  writes = 0
  reading = true
  #waiting: (() => void) | undefined

  override _write (chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes++
    this.text += String(chunk)
    if (this.reading) done()
    else this.#waiting = done
    this.emit('wrote')
  }

  read (): void {
    this.reading = true
    this.#waiting?.()
  }

  get messages (): Json[] {
    return this.text.split('\n').filter(line => line !== '').map(line => JSON.parse(line) as Json)
  }

  async until (count: number): Promise<Json[]> {
    await within(60_000, async signal => { while (this.messages.length < count) await once(this, 'wrote', { signal }) })
    return this.messages
  }
}

async function serve (t: Test, { maxMessage = 100_000, highWaterMark = 1_000 } = {}) {
  const app = await gateway(t, { http: false })
  const input = new PassThrough({ highWaterMark: 1_000 })
  const output = new Output({ highWaterMark })
  const stdio = serveStdio(app.mcp, { input, output, maxMessage })
  const send = (...messages: object[]) => {
    for (const message of messages) input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18' } })
  await output.until(1)
  return { app, input, output, stdio, send }
}

const echo = (id: number, text = 'x') => ({ id, method: 'tools/call', params: { name: 'echo', arguments: { text } } })

t.test('while the client does not read, a few megabytes of its input are read and none are answered', async t => {
  const { input, output, send } = await serve(t)
  output.reading = false
  for (let id = 1; id <= 120; id++) {
    send(echo(id, 'x'.repeat(50_000)))
    await turn()
  }
  t.equal(input.isPaused(), true)
  t.ok(output.writableLength < 1_000_000, `${output.writableLength} bytes wait for the client`)
  t.ok(input.writableLength + input.readableLength > 1_000_000, 'the rest of what the client sent waits outside')
  output.read()
  const messages = await output.until(121)
  t.strictSame(
    messages.slice(1).map(({ id }) => id),
    Array.from({ length: 120 }, (_, index) => index + 1),
    'everything is answered in the end, in order'
  )
})

t.test('a client that does not read for long costs no listeners', async t => {
  const { output, send } = await serve(t)
  output.reading = false
  send({
    id: 1,
    method: 'tools/call',
    params: {
      name: 'slow',
      arguments: { steps: 80, delay: 1 },
      _meta: { progressToken: 'a token of some length '.repeat(40) }
    }
  })
  let most = 0
  await until(() => {
    most = Math.max(most, output.listenerCount('drain'))
    return output.writableLength >= 60_000
  })
  t.ok(most <= 2, `${most} listeners wait for the output to drain`)
  output.read()
  t.match((await output.until(82)).at(-1), { id: 1, result: {} })
})

t.test('the messages of one turn are one write', async t => {
  const { app, output, send } = await serve(t)
  app.mcp.tools.add(
    tool({
      name: 'chatty',
      description: 'd',
      run: (_input, call) => {
        for (let n = 1; n <= 50; n++) call.progress(n)
      }
    })
  )
  await output.until(2)
  const before = output.writes
  send({ id: 1, method: 'tools/call', params: { name: 'chatty', _meta: { progressToken: 1 } } })
  await output.until(53)
  t.ok(output.writes - before <= 2, `${output.writes - before} writes`)
})

t.test('a line that is no message is answered, and reading goes on', async t => {
  const { input, output, send } = await serve(t)
  input.write('nonsense\n{"jsonrpc":"2.0","id":1}\n\n   \r\n[]\n')
  input.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]))
  send(echo(2))
  t.match((await output.until(6)).slice(1), [
    { id: null, error: { code: -32700 } },
    { id: 1, error: { code: -32600 } },
    { id: null, error: { code: -32600 } },
    { id: null, error: { code: -32700 } },
    { id: 2, result: {} }
  ])
})

t.test('a line that is too long is answered once, and reading goes on', async t => {
  const { output, send } = await serve(t, { maxMessage: 2_000 })
  send(echo(1, 'x'.repeat(10_000)), echo(2))
  const messages = await output.until(3)
  t.match(messages.slice(1), [{ id: null, error: { code: -32600, message: /2000 bytes/ } }, { id: 2, result: {} }])
})

t.test('when the input ends, what is in flight is answered before it is over', async t => {
  const { input, output, stdio, send } = await serve(t)
  send({ id: 1, method: 'tools/call', params: { name: 'slow', arguments: { steps: 1, delay: 40 } } })
  input.end('{"jsonrpc":"2.0","id":2,"method":"ping"}')
  await within(60_000, async () => await stdio.closed)
  t.strictSame(output.messages.map(({ id }) => id), [0, 2, 1])
})

t.test('when the output is closed, calls are aborted and serving ends', async t => {
  for (const goes of [(output: Output) => output.destroy(), (output: Output) => output.destroy(new Error('EPIPE'))]) {
    const { app, output, stdio, send } = await serve(t)
    const calls = new EventEmitter()
    app.mcp.tools.add(tool({
      name: 'wait',
      description: 'd',
      run: async (_input, { signal }) => {
        calls.emit('started')
        await once(signal, 'abort')
        calls.emit('aborted')
      }
    }))
    await within(60_000, async signal => {
      const [started, aborted] = [once(calls, 'started', { signal }), once(calls, 'aborted', { signal })]
      send({ id: 1, method: 'tools/call', params: { name: 'wait' } })
      await started
      goes(output)
      await Promise.all([stdio.closed, aborted])
    })
    t.equal(app.mcp.dispatcher.lifecycle.peers.size, 0)
  }
})

t.test('when the input breaks, it is over', async t => {
  for (const error of [new Error('EIO'), undefined]) {
    const { input, stdio } = await serve(t)
    input.destroy(error)
    await within(
      60_000,
      async signal =>
        await Promise.race([
          stdio.closed,
          once(signal, 'abort').then(() => t.fail(`never over after ${String(error)}`))
        ])
    )
  }
})

t.test('flushing waits until every message was handed over', async t => {
  const { output, stdio, send } = await serve(t)
  output.reading = false
  send(echo(1))
  await turn()
  await turn()
  let flushed = false
  const done = stdio.flush().then(() => { flushed = true })
  for (let turns = 0; turns < 10; turns++) await turn()
  t.equal(flushed, false)
  output.read()
  await within(60_000, async () => await done)
  t.match(output.messages.at(-1), { id: 1 })
})

t.test('a handshake is answered before what a call behind it asks', async t => {
  const app = await gateway(t, { http: false })
  const [input, output] = [new PassThrough(), new Output()]
  serveStdio(app.mcp, { input, output, maxMessage: 100_000 })
  const lines = [
    { id: 0, method: 'initialize', params: { capabilities: { elicitation: {} } } },
    { id: 1, method: 'tools/call', params: { name: 'ask_name' } }
  ]
  input.write(lines.map(line => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''))
  t.match(await output.until(2), [{ id: 0, result: {} }, { method: 'elicitation/create' }])
})

t.test('a client that ends its input and does not read is waited for no longer than the grace', async t => {
  const { app, input, output, stdio, send } = await serve(t)
  output.reading = false
  send(echo(1))
  input.end()
  await within(
    60_000,
    async signal => await Promise.race([stdio.closed, once(signal, 'abort').then(() => t.fail('it is waited for'))])
  )
  t.equal(app.mcp.dispatcher.lifecycle.peers.size, 0)
})

t.test('when the input has ended, calls that go on are abandoned on demand, before or after the end', async t => {
  for (const isEarly of [true, false]) {
    const { app, input, output, stdio, send } = await serve(t)
    const calls = new EventEmitter()
    const started = once(calls, 'started')
    app.mcp.tools.add(
      tool({
        name: 'hang',
        description: 'd',
        run: async () => {
          calls.emit('started')
          await new Promise(() => {})
        }
      })
    )
    send({ id: 1, method: 'tools/call', params: { name: 'hang' } })
    await started
    if (isEarly) stdio.abandon()
    send({ id: 2, method: 'ping' })
    t.match((await output.until(2)).at(-1), { id: 2, result: {} }, 'until then the client is served')
    input.end()
    if (!isEarly) {
      await once(input, 'end')
      stdio.abandon()
    }
    t.equal(
      await within(5_000, async signal => await Promise.race([stdio.closed, once(signal, 'abort')])),
      'standard input ended',
      'long before the grace is over'
    )
    await stdio.flush()
    t.match(output.messages.at(-1), { id: 1, error: { code: -32603 } })
  }
})

t.test('the end of the input ends the service, also when calls cannot be waited for', async t => {
  const { input, stdio } = await serve(t)
  const { drain } = Peer.prototype
  t.teardown(() => { Peer.prototype.drain = drain })
  Peer.prototype.drain = async () => { throw new Error('unforeseen') }
  input.end()
  t.equal(await inTime(stdio.closed, 'the end'), 'standard input ended')
})
