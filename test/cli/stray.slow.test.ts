import t from 'tap'
import { FIXTURE, folder, initialize, launch, toolCall } from '../support/process.js'
import { until } from '../support/wait.js'

/** Tools that leave a timer or an emitter behind, which throws outside any call. */
const STRAY = `
import { EventEmitter } from 'node:events'
import { tool } from 'mcp-patchbay'
export default async function stray ({ mcp: { tools } }) {
  tools.add(tool({ name: 'stray', description: 'd', run: () => { setInterval(() => { throw new Error('stray timer') }, 20); return 'left' } }))
  tools.add(tool({ name: 'loud', description: 'd', run: () => { setImmediate(() => new EventEmitter().emit('error', new Error('nobody listens'))); return 'left' } }))
}`

for (const [name, words] of [['stray', 'stray timer'], ['loud', 'nobody listens']] as const) {
  t.test(`${name}: an uncaught exception is logged, calls are answered, and the exit code is 1`, async t => {
    const launched = launch(
      t,
      ['--stdio', '--port', '0', '--ephemeral', '--plugin', 'stray.mjs', '--plugin', FIXTURE],
      { cwd: await folder(t, { 'stray.mjs': STRAY }) }
    )
    const url = await launched.url()
    launched.send(initialize, toolCall(1, 'slow', { steps: 1, delay: 800 }))
    await launched.next()
    const overHttp = fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...toolCall(7, 'slow', { steps: 1, delay: 800 }) })
    }).then(async reply => await reply.json())
    await until(async () => Number((await (await fetch(`${url}/health`)).json() as { peers: number }).peers) >= 2)
    launched.send(toolCall(2, name))
    t.match(await launched.next(), { id: 2, result: { content: [{ text: 'left' }] } }, 'its own call is answered')
    t.match(await launched.next(), { id: 1, result: { content: [{ text: '1 steps' }] } }, 'and those of others')
    t.match(await overHttp, { id: 7, result: { content: [{ text: '1 steps' }] } })
    const { code, stderr } = await launched.exit()
    t.equal(code, 1)
    t.match(stderr, new RegExp(`"msg":"uncaught exception: Error: ${words}`))
    t.notMatch(stderr, /shutdown after an error/, 'and no entry about an error of ours')
  })
}
