import t from 'tap'
import { FIXTURE, launch, type Json } from '../support/process.js'

/**
 * The steps of clients of a bridge that keeps one process for all of them: each shakes hands, calls under ids of its
 * own, which are those of the others, and goes.
 */
const CLIENTS: Array<[version: string, capabilities: Json]> = [
  ['2025-06-18', {}],
  ['2024-11-05', {}],
  ['2025-11-25', { roots: {} }],
  ['2025-03-26', { sampling: {} }],
  ['2025-11-25', {}],
  ['2099-01-01', {}]
]

t.test('a bridge may serve one client after the other with one process', async t => {
  const running = launch(t, ['--stdio', '--ephemeral', '--plugin', FIXTURE])
  const next = async (): Promise<Json> => {
    for (;;) {
      const message = await running.next()
      if (!('method' in message)) return message
    }
  }
  for (const [index, [protocolVersion, capabilities]] of CLIENTS.entries()) {
    running.send({
      id: 0,
      method: 'initialize',
      params: { protocolVersion, capabilities, clientInfo: { name: `client-${index}`, version: '1' } }
    })
    t.match(await next(), {
      id: 0,
      result: { protocolVersion: protocolVersion === '2099-01-01' ? '2025-11-25' : protocolVersion }
    })
    running.send({ method: 'notifications/initialized' }, { id: 1, method: 'tools/list' })
    const listed = await next() as { id: number, result: { tools: Json[] } }
    t.equal(listed.id, 1)
    t.equal(listed.result.tools.some(tool => 'outputSchema' in tool), protocolVersion > '2025-06', protocolVersion)
    running.send({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: `from ${index}` } } })
    t.match(await next(), { id: 2, result: { content: [{ text: `from ${index}` }] } })
  }
  running.end()
  t.equal((await running.exit()).code, 0)
})
