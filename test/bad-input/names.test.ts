import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { prompt, resource, tool } from '../../app.js'
import { endSession, openSession, post } from '../support/http-requests.js'
import { call, callTool, initialize } from '../support/messages.js'
import { answered, only, tryRows, type Expected, type Row } from '../support/rows.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { summariseReply } from '../support/summary.js'

const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']
const WAYS = ['session', 'stateless', 'websocket', 'stdio 2026'] as const
const some = (answer: string): Expected => only(answered(answer), ...WAYS)

const unknown: Row[] = NAMES.flatMap(name => [
  { row: 'D18', title: `a tool called ${name}`, input: callTool(name), expect: some('-32602 id 7') },
  { row: 'D28', title: `a prompt called ${name}`, input: call('prompts/get', { name }), expect: some('-32602 id 7') },
  {
    row: 'B19',
    title: `a method called ${name}`,
    input: call(name),
    expect: { session: '200 -32601 id 7', stateless: '404 -32601 id 7', websocket: '-32601 id 7' }
  }
])

const known: Row[] = NAMES.flatMap(name => [
  { row: 'D18', title: `a tool that is called ${name}`, input: callTool(name), expect: some('ok id 7') },
  {
    row: 'D28',
    title: `a prompt that is called ${name}`,
    input: call('prompts/get', { name, arguments: {} }),
    expect: some('ok id 7')
  },
  {
    row: 'D20',
    title: `a resource that is called ${name}`,
    input: call('resources/read', { uri: `names://${name}` }),
    expect: some('ok id 7')
  },
  { row: 'B19', title: `a method that is called ${name}`, input: call(name), expect: some('ok id 7') }
])

t.test('names that every object has are names like others', async t => {
  const own = Reflect.ownKeys(Object.prototype)
  const server = await startServer(t)
  const { port } = server

  await t.test('while nothing has them', async t => { await tryRows(t, server, unknown) })

  await t.test('and when something has them', async t => {
    const other = await startServer(t, { plugins: [async fastify => { addAll(fastify) }] })
    await tryRows(t, other, known)
  })

  await t.test('a session called so, in either header', async t => {
    const id = await openSession(port, initialize())
    for (const name of NAMES) {
      for (const header of ['Mcp-Session-Id', 'X-Session-ID']) {
        t.equal(
          (await post(port, '/mcp', call('tools/list')('legacy'), [[header, name]])).status,
          404,
          `${header}: ${name}`
        )
      }
      t.equal(
        summariseReply(
          await post(port, '/mcp', call('tools/list')('legacy'), [
            ['Mcp-Session-Id', id],
            [name, name]
          ])
        ),
        '200 ok id 7',
        `a header called ${name}`
      )
    }
    await endSession(port, id)
    await expectUnharmed(t, server)
  })

  t.strictSame(Reflect.ownKeys(Object.prototype), own, 'and no object has more than before')
})

function addAll ({ mcp, mcp: { tools, prompts, resources } }: FastifyInstance): void {
  for (const name of NAMES) {
    tools.add(tool({ name, description: name, run: () => name }))
    prompts.add(prompt({ name, get: () => name }))
    resources.add(resource({ uri: `names://${name}`, name, read: () => name }))
    mcp.method(name, { type: 'object' }, () => ({ name }))
  }
}
