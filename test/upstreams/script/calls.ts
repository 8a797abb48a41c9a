import { unique } from '../../matrix/cell.js'
import type { Client } from '../../matrix/client.js'
import { clientInfo, meta, textOf, type Json } from '../../support/specification/message.js'
import { until } from '../../support/wait.js'
import { oddResult } from '../fixture/tools.js'
import { call, canBeAsked, named, type Chapter } from './passage.js'

/** What happens while a relayed call runs. */
export const calls: Record<string, Chapter> = {
  'a call reaches the server and its result the client': async (t, passage) => {
    t.equal(textOf(await call(passage, 'echo', { text: 'é "☃"\n' })), 'é "☃"\n')
    t.equal(
      textOf(await call(passage, 'echo', {})),
      'undefined',
      'the gateway leaves the check of arguments to the server'
    )
    t.equal(textOf(await call(passage, 'wrong_output')), 'wrong', 'and that of results to the client')
  },

  'names that clients cannot use are replaced': async (t, passage) => {
    t.equal(textOf(await call(passage, 'dotted_name_with__')), 'dotted')
    t.equal(textOf(await call(passage, `long_${'x'.repeat(100)}`)), 'long', 'the whole name is accepted, too')
  },

  'the server sees the gateway, with what the client added and nothing else of it': async (t, passage) => {
    const { client, server } = passage
    const added = {
      'vendor.example/key': { kept: ['é'] },
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    }
    const reply = await call(
      passage,
      'reflect',
      { deep: [{ a: null }] },
      { _meta: { ...added, progressToken: 'token of the client' } }
    )
    const { params, headers, capabilities } = JSON.parse(textOf(reply)) as {
      params: Json & { _meta: Json }
      headers: Json
      capabilities: Json
    }
    const { progressToken, ...rest } = params._meta
    t.match({ name: params.name, arguments: params.arguments }, { name: 'reflect', arguments: { deep: [{ a: null }] } })
    t.not(progressToken, 'token of the client', 'tokens are per connection')
    t.strictSame(withoutReserved(rest), added)
    t.notMatch(JSON.stringify({ params, headers }), clientInfo.name)
    t.notMatch(JSON.stringify(headers), 'secret of the client')
    if (server.revision.modern) t.equal(rest[meta.version], server.revision.version)
    if (server.revision.modern && client.revision.modern) {
      t.strictSame(capabilities, { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} })
    }
    if (server.revision.modern && !canBeAsked(passage)) {
      t.strictSame(capabilities, {}, 'a client without a stream cannot be asked')
    }
  },

  'progress has the token of the client': async (t, passage) => {
    const { client, server } = passage
    for (const progressToken of [unique('token'), 0, '']) {
      client.notifications.empty()
      t.equal(textOf(await call(passage, 'steps', {}, { _meta: { progressToken } })), '3 steps')
      const steps = [1, 2, 3].map(progress => ({
        progressToken,
        progress,
        total: 3,
        ...(server.revision.audio && client.revision.audio ? { message: `step ${progress}` } : {})
      }))
      t.strictSame(notificationsOf(client, 'notifications/progress'), client.transport.streams ? steps : [])
    }
    await call(passage, 'steps')
    t.strictSame(notificationsOf(client, 'notifications/progress'), [], 'none unless asked for')
  },

  'a log message reaches the client that wants it': async (t, passage) => {
    const { client } = passage
    if (!client.transport.streams) return
    client.notifications.empty()
    if (!client.revision.modern) await client.request('logging/setLevel', { level: 'info' })
    const more = client.revision.modern ? { _meta: { [meta.logLevel]: 'info' } } : {}
    await call(passage, 'say', { level: 'debug', text: 'too mild' }, more)
    await call(passage, 'say', { level: 'warning', text: { said: 'é' } }, more)
    t.match(await client.notified('notifications/message'), { level: 'warning', data: { said: 'é' } })
    t.strictSame(notificationsOf(client, 'notifications/message'), [])
  },

  'a cancellation reaches the server': async (t, passage) => {
    const { client, server } = passage
    const [key, other] = [unique('key'), unique('key')]
    const bystander = client.start('tools/call', { name: named(passage, 'hang'), arguments: { key: other } })
    const { id, cancel } = client.start('tools/call', { name: named(passage, 'hang'), arguments: { key } })
    await until(() => server.hanging.has(key) && server.hanging.has(other), 'both calls at the server')
    cancel()
    await until(() => server.cancelled.has(key), 'the cancellation at the server')
    t.equal(textOf(await call(passage, 'echo', { text: 'still here' })), 'still here')
    t.notOk(client.replies.some(reply => reply.id === id), 'a cancelled call has no answer')
    t.notOk(server.cancelled.has(other), 'the other call goes on')
    bystander.cancel()
    await until(() => server.cancelled.has(other), 'the second cancellation')
  },

  'errors of the server stay as they are': async (t, passage) => {
    const { error } = await call(passage, 'fail')
    t.strictSame(error, { code: -31_999, message: 'the fixture fails: "é"', data: { detail: { nested: [1, null] } } })
    t.match(await call(passage, 'refuse'), {
      result: { content: [{ type: 'text', text: 'not today' }], isError: true }
    })
    t.ok((await call(passage, 'no_such_tool')).error)
  },

  'what no revision has is passed on': async (t, passage) => {
    const { server } = passage
    const client = await passage.connect(t)
    const { result = {} } = await client.call(named(passage, 'odd'))
    const { resultType, ...rest } = result
    t.equal(resultType, client.revision.modern ? 'complete' : undefined)
    const expected = oddResult(server.name)
    t.strictSame(
      { ...rest, _meta: withoutReserved(rest._meta as Json) },
      client.revision.titles ? expected : inEarlyWords(expected)
    )
  },

  'parameters are mirrored in headers': async (t, passage) => {
    const { client, server, way } = passage
    // A client over stateless HTTP would have to mirror them itself.
    if (!server.revision.modern || way !== 'HTTP' || (client.transport.http && client.revision.modern)) return
    t.equal(textOf(await call(passage, 'region', { region: 'north' })), 'north')
  }
}

function notificationsOf (client: Client, method: string): unknown[] {
  return client.notifications.empty().filter(message => message.method === method).map(({ params }) => params)
}

// Before structured content, links and `_meta` of blocks.
function inEarlyWords ({ structuredContent, content, ...rest }: Json): Json {
  const [{ _meta, ...first }, second, link] = content as [Json, Json, Json]
  return { ...rest, content: [first, second, { type: 'text', text: `${String(link.name)}: ${String(link.uri)}` }] }
}

function withoutReserved (values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !key.startsWith('io.modelcontextprotocol/')))
}
