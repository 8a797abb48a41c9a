import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocket, WebSocketServer } from 'ws'
import { tool, type Options } from '../../../app.js'
import { connect, type ConnectOptions } from '../../../console/client/connect.js'
import { REVISIONS, type Client, type Era, type JsonObject, type Question } from '../../../console/client/contract.js'
import { listAll } from '../../../console/state/lists.js'
import type { SocketLike } from '../../../console/client/socket.js'
import { listening } from '../../support/gateway.js'
import { modern, newestLegacy } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'

const eras: Era[] = ['legacy', 'modern']

t.test('the revisions of the page, which imports nothing of the gateway, are the newest of each era', async t => {
  t.strictSame(REVISIONS, { legacy: newestLegacy.version, modern: modern.version })
})

const HOW = {
  protocols: ['mcp'],
  makeSocket: (url: string, protocols: string[]) => new WebSocket(url, protocols) as unknown as SocketLike,
  clientInfo: { name: 'test', version: '1' }
}

async function connected (t: Test, era: Era, options: Partial<Options> = {}, more: Partial<ConnectOptions> = {}) {
  const { app, url } = await listening(t, options)
  const { client, close } = await connect({ ...HOW, era, url: `${url.replace('http', 'ws')}/mcp`, ...more })
  t.teardown(close)
  return { app, client, close }
}

/** A server that answers the first message of a connection, and closes it at the next request. */
async function closingServer (t: Test): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mcp' })
  t.teardown(() => server.close())
  server.on('connection', socket => {
    let answered = false
    socket.on('message', data => {
      const { id } = JSON.parse(String(data)) as { id?: number }
      if (id === undefined) return
      if (answered) socket.terminate()
      else {
        socket.send(
          JSON.stringify({
            jsonrpc: '2.0',
            id,
            result: {
              resultType: 'complete',
              protocolVersion: REVISIONS.legacy,
              capabilities: { logging: {} },
              serverInfo: { name: 's', version: '1' }
            }
          })
        )
      }
      answered = true
    })
  })
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const call = (client: Client, name: string, args: JsonObject, handlers = {}) =>
  client.request('tools/call', { name, arguments: args }, handlers)

const textOf = (result: JsonObject): unknown => (result.content as Array<{ text: string }>)[0]?.text

for (const era of eras) {
  t.test(`${era}: a connection that ends in the handshake was never made`, async t => {
    const url = await closingServer(t)
    const told: unknown[] = []
    await t.rejects(
      connect({
        ...HOW,
        era,
        url,
        onClosed: closing => {
          told.push(closing)
        }
      }),
      { name: 'ConnectionLost', message: /1006/ }
    )
    t.strictSame(told, [])
  })

  t.test(`${era}: a handshake that is given up is not heard of any more`, async t => {
    const { url } = await listening(t)
    const log: unknown[] = []
    const attempt = new AbortController()
    const made = connect({
      ...HOW,
      era,
      url: `${url.replace('http', 'ws')}/mcp`,
      signal: attempt.signal,
      onMessage: direction => {
        log.push(direction)
        attempt.abort()
      }
    })
    await t.rejects(made, { name: 'ConnectionLost' })
    t.strictSame(log, ['sent'])
  })

  t.test(`${era}: what still comes after the page has closed the connection is not read`, async t => {
    const [log, sockets]: [string[], SocketLike[]] = [[], []]
    const { client, close } = await connected(t, era, {}, {
      onMessage: (direction, { method }) => { log.push(`${direction} ${String(method)}`) },
      makeSocket: (url, protocols) => { sockets.push(HOW.makeSocket(url, protocols)); return sockets[0] as SocketLike }
    })
    const { length } = log
    const receive = sockets[0]?.onmessage as unknown as (event: { data: string }) => void
    receive({ data: '{"jsonrpc":"2.0","method":"notifications/message","params":{}}' })
    t.equal(log.length, length + 1)
    close()
    client.request('ping').catch(() => {})
    receive({ data: '{"jsonrpc":"2.0","method":"notifications/message","params":{}}' })
    t.equal(log.length, length + 1)
  })

  t.test(`${era}: knows the server and calls a tool`, async t => {
    const { client } = await connected(t, era)
    t.equal(client.era, era)
    t.match(client.server, {
      name: 'patchbay',
      version: /\d/,
      revision: era === 'legacy' ? '2025-11-25' : '2026-07-28',
      capabilities: { tools: {} }
    })
    t.match(await call(client, 'echo', { text: 'hi' }), { structuredContent: { text: 'hi' } })
  })

  t.test(`${era}: an error of the gateway rejects with its code and data`, async t => {
    const { client } = await connected(t, era)
    await t.rejects(client.request('no/such'), { name: 'RpcError', code: -32601, message: /no\/such/ })
  })

  t.test(`${era}: reports progress and log messages to the call they belong to`, async t => {
    const { client } = await connected(t, era)
    const steps: number[] = []
    const said: Record<string, unknown[]> = { first: [], second: [] }
    await call(
      client,
      'slow',
      { steps: 3, delay: 1 },
      {
        onProgress: ({ progress }: { progress: number }) => {
          steps.push(progress)
        }
      }
    )
    await Promise.all(
      ['first', 'second'].map(text =>
        call(
          client,
          'say',
          { level: 'debug', text },
          {
            onLog: ({ data }: { data: unknown }) => {
              said[text]?.push(data)
            }
          }
        )
      )
    )
    t.strictSame(steps, [1, 2, 3])
    t.strictSame(said, { first: ['first'], second: ['second'] })
  })

  t.test(`${era}: a cancelled call rejects, and the gateway ends it`, async t => {
    const { client, app } = await connected(t, era)
    const outcomes: string[] = []
    app.mcp.onEnd((call, { outcome }) => { if (call.method === 'tools/call') outcomes.push(outcome) })
    const controller = new AbortController()
    const running = call(client, 'slow', { steps: 2, delay: 600_000 }, { signal: controller.signal })
    const [peer] = app.mcp.dispatcher.lifecycle.peers
    await until(() => (peer?.inbound.size ?? 0) > (era === 'legacy' ? 0 : 1), 'the call')
    controller.abort()
    await t.rejects(running, { name: 'Cancelled' })
    await until(() => outcomes.length === 1, 'the end of the call')
    t.strictSame(outcomes, ['cancelled'])
  })

  t.test(`${era}: a question is answered once, beside its call`, async t => {
    const { client } = await connected(t, era)
    const gone: string[] = []
    const questions: Question[] = []
    const running = call(client, 'ask_name', {}, {
      onQuestion: (question: Question) => { questions.push(question) },
      onQuestionGone: (id: string) => { gone.push(id) }
    })
    await until(() => questions.length === 1, 'the question')
    t.match(questions[0], {
      method: 'elicitation/create',
      params: { message: 'What is your name?' },
      key: era === 'modern' ? 'user_name' : undefined
    })
    questions[0]?.answer({ action: 'accept', content: { name: 'Ada' } })
    questions[0]?.answer({ action: 'decline' })
    t.equal(textOf(await running), 'Hello, Ada!')
    t.strictSame(gone, [questions[0]?.id])
  })

  t.test(`${era}: questions of two calls at once reach the right ones, in any order`, async t => {
    const { client } = await connected(t, era)
    const asked = new Map<string, Question>()
    const ask = (who: string) =>
      call(
        client,
        'ask_name',
        {},
        {
          onQuestion: (question: Question) => {
            asked.set(who, question)
          }
        }
      )
    const first = ask('first')
    const second = ask('second')
    await until(() => asked.size === 2, 'both questions')
    asked.get('second')?.answer({ action: 'accept', content: { name: 'Second' } })
    asked.get('first')?.answer({ action: 'decline' })
    t.equal(textOf(await first), 'You chose to decline.')
    t.equal(textOf(await second), 'Hello, Second!')
  })

  t.test(`${era}: questions for a model and for roots`, async t => {
    const { client } = await connected(t, era)
    const text = { type: 'text', text: 'Paris' }
    const sample = call(
      client,
      'ask_model',
      {},
      { onQuestion: ({ answer }: Question) => answer({ role: 'assistant', model: 'person', content: text }) }
    )
    const roots = call(
      client,
      'ask_roots',
      {},
      { onQuestion: ({ answer }: Question) => answer({ roots: [{ uri: 'file:///a' }] }) }
    )
    t.equal(textOf(await sample), 'Paris')
    t.equal(textOf(await roots), 'file:///a')
  })

  t.test(`${era}: a question that is refused ends or fails its call`, async t => {
    const { client } = await connected(t, era)
    const refused = await call(
      client,
      'ask_name',
      {},
      { onQuestion: ({ refuse }: Question) => refuse('not now') }
    ).catch((error: Error) => error)
    t.ok(refused instanceof Error || refused.isError === true)
  })

  t.test(`${era}: a question goes when its call is cancelled`, async t => {
    const { client } = await connected(t, era)
    const controller = new AbortController()
    const gone: string[] = []
    let asked = ''
    const running = call(
      client,
      'ask_name',
      {},
      {
        signal: controller.signal,
        onQuestion: ({ id }: Question) => {
          asked = id
        },
        onQuestionGone: (id: string) => {
          gone.push(id)
        }
      }
    )
    await until(() => asked !== '', 'the question')
    controller.abort()
    await t.rejects(running, { name: 'Cancelled' })
    t.strictSame(gone, [asked])
  })

  t.test(`${era}: hears of changed lists`, async t => {
    const { client, app } = await connected(t, era)
    const heard: string[] = []
    client.onNotification(method => { heard.push(method) })
    app.mcp.tools.add(tool({ name: 'late', description: 'd', run: () => '' }))
    await until(() => heard.includes('notifications/tools/list_changed'), 'the notification')
  })

  t.test(`${era}: hears of a resource while it is subscribed to`, async t => {
    const { client, app } = await connected(t, era)
    let first = 0
    let second = 0
    const end = await client.subscribe('test://text', () => { first++ })
    const endOther = await client.subscribe('test://text', () => { second++ })
    app.mcp.resources.updated('test://text')
    app.mcp.resources.updated('test://bytes')
    await until(() => first === 1 && second === 1, 'the changes')
    end()
    await client.request('tools/list')
    app.mcp.resources.updated('test://text')
    await until(() => second === 2, 'the second change')
    endOther()
    t.equal(first, 1)
  })

  t.test(`${era}: a subscription that is given up while it begins leaves those beside it`, async t => {
    const { client, app } = await connected(t, era)
    let heard = 0
    const [first, second] = [
      client.subscribe('test://text', () => {}),
      client.subscribe('test://text', () => {
        heard++
      })
    ]
    ;(await first)()
    const end = await second
    await client.request('tools/list')
    app.mcp.resources.updated('test://text')
    await until(() => heard === 1, 'the change')
    end()
  })

  t.test(`${era}: follows every cursor of a list`, async t => {
    const { client, app } = await connected(t, era, { pageSize: 4 })
    const pages: number[] = []
    const all = await listAll(client, 'tools/list', 'tools', some => { pages.push(some.length) })
    t.equal(all.length, app.mcp.tools.names().length)
    t.ok(pages.length > 1)
  })

  t.test(`${era}: what is not answered when the gateway goes is lost, in words`, async t => {
    let closed = 0
    const { client, app } = await connected(t, era, { grace: 10 }, { onClosed: closing => { closed = closing.code } })
    const running = call(client, 'slow', { steps: 1, delay: 600_000 })
    const lost = running.catch((error: Error) => error)
    await app.close()
    t.match(await lost, { message: /shutting down/ })
    await until(() => closed !== 0, 'the end')
    t.equal(closed, 1001)
    await t.rejects(client.request('tools/list'), { name: 'ConnectionLost' })
  })

  t.test(`${era}: a call that waits for an answer is lost with the connection, and so is its question`, async t => {
    const sockets: WebSocket[] = []
    const { client } = await connected(
      t,
      era,
      {},
      {
        makeSocket: (url, protocols) => {
          sockets.push(new WebSocket(url, protocols))
          return sockets[0] as unknown as SocketLike
        }
      }
    )
    const [asked, gone]: [Question[], string[]] = [[], []]
    const lost = call(
      client,
      'ask_name',
      {},
      {
        onQuestion: (question: Question) => {
          asked.push(question)
        },
        onQuestionGone: (id: string) => {
          gone.push(id)
        }
      }
    ).catch((error: Error) => error)
    await until(() => asked.length === 1, 'the question')
    sockets[0]?.terminate()
    t.match(await lost, { name: 'ConnectionLost', message: /1006/ })
    t.strictSame(gone, [asked[0]?.id])
    asked[0]?.answer({ action: 'accept', content: { name: 'Ada' } })
  })

  t.test(`${era}: reports every message in both directions`, async t => {
    const seen: string[] = []
    const { client } = await connected(
      t,
      era,
      {},
      {
        onMessage: (direction, { method, id }) => {
          seen.push(`${direction} ${String(method ?? id)}`)
        }
      }
    )
    seen.length = 0
    await client.request('tools/list')
    t.match(seen, [/^sent tools\/list$/, /^received \d+$/])
  })
}

t.test('a gateway that cannot be reached rejects with the close code in words', async t => {
  const { url, app } = await listening(t)
  await app.close()
  const makeSocket = (url: string) => new WebSocket(url) as unknown as SocketLike
  await t.rejects(
    connect({ era: 'legacy', url: `${url.replace('http', 'ws')}/mcp`, protocols: [], makeSocket, clientInfo: {} }),
    { message: /cannot be reached.*1006/ }
  )
})
