import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openSession, slow, type HttpSession } from '../support/http-session.js'
import { modernMeta } from '../support/modern.js'
import { sharesOf, startNodes, sticky, withNodes } from '../support/nodes/three-nodes.js'
import { FIXTURE } from '../support/process.js'
import { until } from '../support/wait.js'

const MATRIX = fileURLToPath(new URL('../matrix/fixture.js', import.meta.url))
const CALLS = 12

/** Makes a modern call: its status, and the text of its result. */
async function call (url: string, name: string, args: object): Promise<{ status: number, text: string | undefined }> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name
  }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: modernMeta() }
  })
  const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
  const text = await response.text()
  return {
    status: response.status,
    text: response.ok
      ? (JSON.parse(text) as { result: { content: Array<{ text: string }> } }).result.content[0]?.text
      : undefined
  }
}

t.test('a node behind nginx is killed', withNodes, async t => {
  const { url, nodes, nginx } = await startNodes(t, {
    plugins: [FIXTURE, MATRIX],
    change: site => site.replaceAll('fail_timeout=10s', 'fail_timeout=1s')
  })
  const session = await openSession(url)
  const [victim, other] = nodes

  await t.test('the calls that it is answering fail, and no others', async t => {
    const meet = async (at: string, canary: string) => await call(at, 'meet', { room: 'all', size: CALLS + 1, canary })
    const calls = Array.from({ length: CALLS }, async (_, index) => await meet(url, `${index}`))
    await call(other?.url ?? '', 'wait_for', { moment: `all has ${CALLS}` })
    await victim?.end('SIGKILL')
    await meet(other?.url ?? '', 'last')
    const replies = await Promise.all(calls)
    t.equal(replies.filter(({ status }) => status === 502).length, CALLS / 3)
    t.equal(replies.filter(({ status, text }, index) => status === 200 && text === `${index}`).length, CALLS * 2 / 3)
  })

  await t.test('the next requests of all clients are answered', async t => {
    for (let index = 0; index < 2 * CALLS; index++) {
      t.strictSame(await call(url, 'echo', { text: `${index}` }), { status: 200, text: `${index}` })
    }
    for (let index = 0; index < CALLS; index++) {
      t.equal((await session.post({ id: index, method: 'ping' })).status, 200, 'a session too, wherever it began')
    }
  })

  await t.test('and nginx sends it requests again when it is back', async t => {
    await victim?.start()
    const before = (await nginx.served()).length
    const address = `127.0.0.1:${victim?.port}`
    await until(
      async () =>
        (await call(url, 'echo', { text: 'x' })).status === 200 &&
        (await nginx.served()).slice(before).some(({ nodes }) => nodes.at(-1) === address),
      'a request reaches it'
    )
    t.ok((await nginx.served()).slice(before).every(({ status }) => status === 200))
  })
})

t.test('with stickiness', withNodes, async t => {
  const three = await startNodes(t, { plugins: [FIXTURE], change: sticky })
  const { url, nginx } = three

  await t.test('requests of a session go to one node, and those without to all', async t => {
    const sessions = await Promise.all(Array.from({ length: 6 }, async () => await openSession(url)))
    for (const session of sessions) {
      for (let index = 0; index < 5; index++) t.equal((await session.post({ id: index, method: 'ping' })).status, 200)
    }
    const served = await nginx.served()
    for (const { id } of sessions) {
      t.equal(new Set(served.filter(({ session }) => session === id).map(({ nodes }) => nodes[0])).size, 1)
    }
    for (let index = 0; index < 60; index++) await call(url, 'echo', { text: 'x' })
    t.ok(sharesOf(three, (await nginx.served()).slice(served.length)).every(share => share > 0))
  })

  await t.test('a reply is resumed when the node of its session has died', async t => {
    const session = await openSession(url)
    const id = await beginReply(session)
    t.equal((await session.post({ id: 1, method: 'ping' })).status, 200)
    let address: string | undefined
    // nginx writes its log after the reply.
    await until(
      async () =>
        (address = (await nginx.served()).findLast(({ session: name }) => name === session.id)?.nodes[0]) !== undefined,
      'nginx logs the node'
    )
    const node = three.nodes.find(({ port }) => address === `127.0.0.1:${port}`)
    if (node === undefined) throw new Error(`no node has the address ${address}`)
    await node.end('SIGKILL')
    const rest = await (await session.listen(id)).rest()
    t.match(JSON.parse(rest.at(-1)?.data ?? '{}'), { id: 9, error: { code: -32603 } })
    t.equal((await session.post({ id: 2, method: 'ping' })).status, 200)
  })
})

/** Begins a streamed reply, drops it, and gives the id of its first event. */
async function beginReply (session: HttpSession): Promise<string> {
  const reply = await session.stream(slow(9, 10_000, 20))
  const { id = '' } = (await reply.event(), await reply.event()) ?? {}
  reply.drop()
  return id
}
