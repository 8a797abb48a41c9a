import { fileURLToPath } from 'node:url'
import t from 'tap'
import { dataFolder } from '../support/environment/on-disk.js'
import { ADA, apiKeys } from '../support/keys.js'
import { folder } from '../support/process.js'
import { freePort, Gateway } from '../support/restarting.js'
import { TaskOwner, type Json } from './task-rounds/owner.js'

const ROUNDS = Number(process.env['TASK_RACES'] ?? 300)
const AT_ONCE = 10
const TOOLS = fileURLToPath(new URL('./task-rounds/tools.js', import.meta.url))

t.test(`a task that completes at one process while another cancels it ends once, ${ROUNDS} times`, async t => {
  t.setTimeout(1_200_000)
  const runs = `${await folder(t, { runs: '' })}/runs`
  const env = {
    RUNS: runs,
    PATCHBAY_API_KEYS: JSON.stringify(apiKeys),
    PATCHBAY_RATE: '100000',
    PATCHBAY_BURST: '100000',
    PATCHBAY_LIMITS: 'maxTasksPerPrincipal=10000,maxEventLoopDelay=60000'
  }
  const data = await dataFolder(t)
  const nodes = [await freePort(), await freePort()].map(port => new Gateway(t, port, data, ['--plugin', TOOLS], env))
  const [here, there] = nodes as [Gateway, Gateway]
  await Promise.all(nodes.map(async node => await node.start()))
  const ada = new TaskOwner('ada', ADA)
  const seen: Record<string, number> = {}
  const ends = new Map<string, string>()
  const race = async (round: number): Promise<void> => {
    const id = await ada.create(here, 'work', `round ${round}`, round % 12) ?? ''
    await ada.ask(there, 'tasks/cancel', { taskId: id })
    const task: Json = await ada.reach(there, id, 'completed', 'cancelled')
    const status = String(task.status)
    t.equal(task.result === undefined, status === 'cancelled', `round ${round}: ${status}`)
    seen[status] = (seen[status] ?? 0) + 1
    ends.set(id, JSON.stringify(task))
  }
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) => await race(round + index)))
  }
  for (const [id, text] of ends) t.equal(JSON.stringify(await ada.get(here, id)), text, 'nothing changes after the end')
  t.ok(Number(seen.completed) > 0 && Number(seen.cancelled) > 0, JSON.stringify(seen))
})
