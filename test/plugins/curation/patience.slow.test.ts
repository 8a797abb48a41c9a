import { EventEmitter, once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool as localTool } from '../../../app.js'
import { onSharedStores, pairOf, type Share } from '../../support/environment/nodes.js'
import { folder } from '../../support/process.js'
import { gatewayOn } from '../../support/restarting.js'
import type { Json } from '../../support/specification/message.js'

/** Lets the works of this test end. */
const works = new EventEmitter()

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(localTool({
    name: 'work',
    description: 'Works until it is told to end',
    patience: 100,
    run: async (_, { signal }) => {
      signal.addEventListener('abort', () => works.emit('aborted'))
      const [value] = await once(works, 'end', { signal }) as [string]
      return value
    }
  }))
}

interface Answer { result: { isError?: boolean, content: Array<{ text: string }> } }

async function call (url: string, name: string, args: Json = {}): Promise<Answer> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  })
  return await reply.json() as Answer
}

const idIn = (answer: Answer): string => /patchbay:\/\/call\/([\w-]{22})/.exec(JSON.stringify(answer))?.[1] ?? ''

onSharedStores(t, (t: Test, share: Share) => {
  t.test('a call that was answered early is waited for, and cancelled, at another node', async t => {
    const [one, two] = await pairOf(t, { tools: false, plugins: [own], ...await share(t) })
    const [here, there] = [`${one.url}/message`, `${two.url}/message`]
    const ended = idIn(await call(here, 'work'))
    const waiting = call(there, 'get_result', { id: ended })
    t.match(await call(there, 'get_result', { id: ended, wait: 0 }), { result: { content: [{ text: /still runs/ }] } })
    works.emit('end', 'done')
    t.match(await waiting, { result: { content: [{ text: 'done' }] } })
    const cancelled = idIn(await call(here, 'work'))
    const aborted = once(works, 'aborted')
    t.match(await call(there, 'cancel_result', { id: cancelled }), { result: { content: [{ text: /was cancelled/ }] } })
    await aborted
    t.match(await call(here, 'get_result', { id: cancelled }), { result: { content: [{ text: /was cancelled/ }] } })
  })
})

t.test('results survive a kill, and a call whose gateway was killed has failed and is not run again', async t => {
  const config = JSON.stringify({ views: { hasty: { override: { long_running_task: { patience: 100 } } } } })
  const path = await folder(t, { 'patchbay.json': config })
  const gateway = await gatewayOn(t, ['--config', `${path}/patchbay.json`])
  await gateway.start()
  const url = `${gateway.url}/message/hasty`
  const ended = idIn(await call(url, 'long_running_task', { steps: 1, delay: 0.5 }))
  t.match(await call(url, 'get_result', { id: ended }), { result: { content: [{ text: 'Completed 1 step' }] } })
  for (let round = 1; round <= 3; round++) {
    const running = idIn(await call(url, 'long_running_task', { steps: 1, delay: 30 }))
    t.match(await call(url, 'get_result', { id: running, wait: 0 }), { result: { content: [{ text: /still runs/ }] } })
    await gateway.restart('SIGKILL')
    t.match(await call(url, 'get_result', { id: ended }), { result: { content: [{ text: 'Completed 1 step' }] } })
    const answer = await call(url, 'get_result', { id: running })
    t.match(JSON.stringify(answer), /The gateway that ran the task ended before the task did; it was not run again/)
  }
})
