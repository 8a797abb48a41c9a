import t from 'tap'
import {
  RpcError,
  type Client,
  type Era,
  type Handlers,
  type Json,
  type JsonObject
} from '../../../console/client/contract.js'
import { connectLegacy } from '../../../console/client/legacy.js'
import { connectModern } from '../../../console/client/modern.js'
import { listAll } from '../../../console/state/lists.js'
import { Session } from '../../../console/client/session.js'

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
/** `String` and `Number` throw for it. */
const NO_TEXT = { toString: 1, valueOf: 1 }
const ODD: Json[] = [null, 7, true, '', [], {}, NO_TEXT]

/** What a server answers to a request, and the notifications that it sends before. */
type Answer = (method: string, id: Json, tell: (message: JsonObject) => void) => JsonObject

/** A client of a server that says whatever a test wants. */
async function clientOf (era: Era, answer: Answer, facts: JsonObject = {}): Promise<Client> {
  const serve = (text: string): void => {
    const { id, method } = JSON.parse(text) as { id?: number, method?: string }
    if (id === undefined || method === undefined) return
    const tell = (message: JsonObject): void => session.receive(JSON.stringify({ jsonrpc: '2.0', ...message }))
    if (method === 'subscriptions/listen') {
      tell({
        method: ACKNOWLEDGED,
        params: { notifications: {}, _meta: { 'io.modelcontextprotocol/subscriptionId': id } }
      })
    } else if (method === 'initialize' || method === 'server/discover') tell({ id, result: facts })
    else tell({ id, ...answer(method, id, tell) })
  }
  const session = new Session(text => queueMicrotask(() => serve(text)), () => {})
  return await (era === 'legacy' ? connectLegacy : connectModern)(session, {})
}

/** What one call hears when its server sends these notifications. */
async function heard (era: Era, method: string, params: JsonObject[], handlers: Handlers): Promise<void> {
  const client = await clientOf(era, (_method, id, tell) => {
    for (const each of params) tell({ method, params: { progressToken: id, ...each } })
    return { result: {} }
  })
  await client.request('tools/call', {}, handlers)
}

for (const era of ['legacy', 'modern'] as const) {
  t.test(`${era}: progress has numbers, and a text or none; what has no number is dropped`, async t => {
    const found: unknown[] = []
    const odd = ODD.filter(value => value !== 7)
    await heard(
      era,
      'notifications/progress',
      [
        {},
        ...odd.map(progress => ({ progress })),
        ...ODD.map(value => ({ progress: 1, total: value, message: value }))
      ],
      {
        onProgress: progress => {
          found.push(progress)
        }
      }
    )
    t.strictSame(
      found,
      ODD.map(value => ({
        progress: 1,
        ...(value === 7 ? { total: 7 } : {}),
        ...(value === '' ? { message: '' } : {})
      }))
    )
  })

  t.test(`${era}: a log message has a level, a logger that is a text or none, and data`, async t => {
    const found: unknown[] = []
    await heard(
      era,
      'notifications/message',
      [{}, ...ODD.map(value => ({ level: value, logger: value, data: value }))],
      {
        onLog: entry => {
          found.push(entry)
        }
      }
    )
    t.strictSame(found, [
      { level: 'unknown', data: '' },
      ...ODD.map(data => (data === '' ? { level: '', logger: '', data } : { level: 'unknown', data }))
    ])
  })

  t.test(`${era}: an error has a number and a text`, async t => {
    for (const error of [{}, ...ODD.map(value => ({ code: value, message: value })), ...ODD.slice(1)]) {
      const client = await clientOf(era, () => ({ error }))
      const thrown = await client.request('x').catch((reason: unknown) => reason)
      t.ok(
        thrown instanceof RpcError &&
          Number.isFinite(thrown.code) &&
          typeof thrown.message === 'string' &&
          thrown.message !== 'undefined',
        JSON.stringify(error)
      )
    }
  })

  t.test(`${era}: a result is an object`, async t => {
    for (const result of ODD.filter(value => value !== NO_TEXT)) {
      t.strictSame(await (await clientOf(era, () => ({ result, error: null }))).request('x'), {})
    }
  })

  t.test(`${era}: the server has texts for names, whatever it says of itself`, async t => {
    for (const value of ODD) {
      const info = { name: value, title: value, version: value }
      const facts = {
        serverInfo: info,
        protocolVersion: value,
        capabilities: value,
        instructions: value,
        _meta: { 'io.modelcontextprotocol/serverInfo': info }
      }
      for (const given of [facts, { serverInfo: value, _meta: value }]) {
        const { server } = await clientOf(era, () => ({ result: {} }), given)
        const { name, version, revision, title = '', instructions = '', capabilities } = server
        for (const text of [name, version, revision, title, instructions]) t.type(text, 'string')
        t.ok(typeof capabilities === 'object' && capabilities !== null && !Array.isArray(capabilities))
      }
    }
  })

  t.test(`${era}: a question has an object for its params`, async t => {
    for (const params of ODD.filter(value => value !== NO_TEXT)) {
      const asked: unknown[] = []
      const client = await clientOf(era, (_method, _id, tell) => {
        if (era === 'modern') {
          return {
            result:
              asked.length > 0
                ? {}
                : { resultType: 'input_required', inputRequests: { a: { method: 'roots/list', params } } }
          }
        }
        tell({ id: 'q', method: 'roots/list', params })
        return { result: {} }
      })
      await client.request(
        'tools/call',
        {},
        {
          onQuestion: question => {
            asked.push(question.params)
            question.answer({})
          }
        }
      )
      t.strictSame(asked, [{}], JSON.stringify(params))
    }
  })
}

t.test('modern: what is no question ends the call in words', async t => {
  for (const request of [...ODD, { method: NO_TEXT }]) {
    const client = await clientOf('modern', () => ({
      result: { resultType: 'input_required', inputRequests: { a: request } }
    }))
    await t.rejects(client.request('tools/call', {}, { onQuestion: () => {} }), {
      name: 'RpcError',
      message: /something, which nothing here answers/
    })
  }
})

t.test('a message whose id is neither a text nor a number is dropped', async t => {
  const seen: unknown[] = []
  const session = new Session(() => {}, (_direction, message) => { seen.push(message) })
  for (const id of [true, [], {}, NO_TEXT]) session.receive(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
  t.strictSame(seen, [])
})

t.test('a list has its objects only, however many there are', async t => {
  const client = await clientOf('legacy', () => ({
    result: { tools: [...ODD, ...Array<Json>(200_000).fill({ name: 'a' })] }
  }))
  t.equal((await listAll(client, 'tools/list', 'tools')).length, 200_002)
  for (const tools of ODD) {
    t.strictSame(
      await listAll(
        await clientOf('legacy', () => ({ result: { tools, nextCursor: tools === '' ? null : tools } })),
        'x',
        'tools'
      ),
      []
    )
  }
})
