import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { folder, initialize, launch } from '../support/process.js'

/** Tools that make what stays, and tell how many bytes there are for what is new. */
const KEEPING = `
import { getHeapSnapshot, getHeapSpaceStatistics } from 'node:v8'
import { tool } from 'mcp-patchbay'
const kept = []
export default [
  tool({ name: 'keep', description: 'd', run: () => { for (let count = 0; count < 100_000; count++) kept.push({ count, more: [count] }) } }),
  tool({ name: 'shrink', description: 'd', run: () => { getHeapSnapshot().destroy() } }),
  tool({ name: 'room', description: 'd', run: () => String(getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size) })
]`

/** A gateway that others reach, too, and a way to call its tools. */
async function reachable (t: Test, env: Record<string, string> = {}): Promise<(name: string) => Promise<string>> {
  const launched = launch(t, ['--stdio', '--port', '0', '--ephemeral', '--plugin', 'keeping.mjs'], { cwd: await folder(t, { 'keeping.mjs': KEEPING }), env })
  await launched.url()
  const call = async (name: string): Promise<string> => {
    launched.send({ jsonrpc: '2.0', id: name, method: 'tools/call', params: { name, arguments: {} } })
    const { result } = await launched.next() as { result: { content: Array<{ text: string }> } }
    return result.content[0]?.text ?? ''
  }
  launched.send(initialize)
  await launched.next()
  return call
}

/** The room for what is new once the gateway serves, and after much was made that stays. */
async function rooms (call: (name: string) => Promise<string>): Promise<{ before: number, after: number }> {
  const before = Number(await call('room'))
  // More than the largest room, which it may have already.
  for (let times = 0; times < 10; times++) await call('keep')
  return { before, after: Number(await call('room')) }
}

t.test('a gateway that others reach makes no more room for what is new because of what stays', async t => {
  const { before, after } = await rooms(await reachable(t))
  t.ok(before > 0)
  t.equal(after, before)
})

t.test('whoever starts Node.js with a size of their own has it', async t => {
  const { before, after } = await rooms(await reachable(t, { NODE_OPTIONS: '--max-semi-space-size=64' }))
  t.ok(after > before)
})

t.test('room that was given up while there was little to do is made again when it is needed', async t => {
  const call = await reachable(t)
  const before = Number(await call('room'))
  await call('shrink')
  t.ok(Number(await call('room')) < before, 'it was given up')
  for (const end = Date.now() + 10_000; Date.now() < end && Number(await call('room')) < before; await sleep(50)) await call('keep')
  t.ok(Number(await call('room')) >= before)
})
