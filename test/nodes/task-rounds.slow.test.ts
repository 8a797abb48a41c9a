import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { dataFolder } from '../support/environment/on-disk.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { ADA, apiKeys, BOB } from '../support/keys.js'
import { folder } from '../support/process.js'
import { freePort, Gateway, gatewayOn } from '../support/restarting.js'
import { until } from '../support/wait.js'
import { TaskOwner, type Json } from './task-rounds/owner.js'

/** `TASK_ROUNDS=100 npm test -- nodes/task-rounds` runs as many. Each kills a node. */
const ROUNDS = Number(process.env['TASK_ROUNDS'] ?? 3)
const TOOLS = fileURLToPath(new URL('./task-rounds/tools.js', import.meta.url))

/** How long a run takes that does not end by itself, in milliseconds. */
const ENDLESS = 3_000_000
const OWNERS = [new TaskOwner('ada', ADA), new TaskOwner('bob', BOB)] as const
const KILLS = ['create', 'update', 'completion'] as const

/** A task that is final: its state as it was read first. */
interface Final { owner: TaskOwner, id: string, text: string }

/** The ids of an owner's tasks, one in each state, at the node that dies. */
interface Population {
  owner: TaskOwner
  working: string
  asks: string
  followed: string
  finals: Final[]
}

type Count = (what: string) => void

class Rounds {
  readonly nodes: Gateway[]
  readonly seen: Record<string, number> = {}
  readonly finals: Final[] = []
  readonly #t: Test
  readonly #runs: string

  constructor (t: Test, nodes: Gateway[], runs: string) {
    this.#t = t
    this.nodes = nodes
    this.#runs = runs
  }

  readonly count: Count = what => { this.seen[what] = (this.seen[what] ?? 0) + 1 }

  async run (round: number): Promise<void> {
    const kind = KILLS[round % 3] ?? 'create'
    const [dying, here, there] =
      [0, 1, 2].map(offset => this.nodes[(round + Math.floor(round / 3) + offset) % 3]) as [Gateway, Gateway, Gateway]
    const all = await Promise.all(OWNERS.map(async owner => await this.#populate(owner, dying, here, round)))
    const living = await OWNERS[0].create(here, 'work', `survives ${round}`, ENDLESS) ?? ''
    const created = await this.#kill(kind, dying, here, round)
    await dying.start()
    for (const { owner, working, asks, followed, finals } of all) {
      await this.#isKnown(owner, [working, asks, followed, ...finals.map(({ id }) => id)])
      await this.#areUnchanged(finals)
      this.#t.match(await owner.reach(here, working, 'failed'), { error: { message: /not run again/ } })
      await owner.reach(there, asks, 'input_required')
      await owner.answer(there, asks)
      const asked = await owner.reach(here, asks, 'completed')
      this.#t.match(JSON.stringify(asked.result), `did ask ${round} ${owner.name} for ${owner.name}`)
      const { status } = await owner.reach(there, followed, 'completed', 'failed')
      this.count(`followed ${String(status)}`)
      for (const id of [working, asks, followed]) await this.#keep(owner, id)
    }
    for (const [id, owner] of created) await this.#settle(owner, id, kind, here)
    this.#t.match(await OWNERS[0].get(dying, living), { status: 'working' }, 'a task of a living node works on')
    await OWNERS[0].ask(dying, 'tasks/cancel', { taskId: living })
    await OWNERS[0].reach(here, living, 'cancelled')
    await this.#ranOnce()
  }

  async #populate (owner: TaskOwner, node: Gateway, reader: Gateway, round: number): Promise<Population> {
    const create = async (name: string, ms = 0): Promise<string> =>
      await owner.create(node, name, `${name} ${ms} ${round} ${owner.name}`.replace(/^ask 0/, 'ask'), ms) ?? ''
    const followed = await create('up__work', 2_000)
    const [working, cancelled] = [await create('work', ENDLESS), await create('work', ENDLESS + 1)]
    const [completed, failed, asks] = [await create('work'), await create('fail'), await create('ask')]
    await owner.ask(node, 'tasks/cancel', { taskId: cancelled })
    const finals: Final[] = []
    for (const [id, state] of [[cancelled, 'cancelled'], [completed, 'completed'], [failed, 'failed']] as const) {
      finals.push({ owner, id, text: JSON.stringify(await owner.reach(reader, id, state)) })
    }
    this.finals.push(...finals)
    await owner.reach(node, asks, 'input_required')
    return { owner, working, asks, followed, finals }
  }

  /** Kills a node in the middle of something; gives the tasks that clients know of by then. */
  async #kill (
    kind: typeof KILLS[number],
    dying: Gateway,
    reader: Gateway,
    round: number
  ): Promise<Map<string, TaskOwner>> {
    const ids = new Map<string, TaskOwner>()
    const note = (owner: TaskOwner) => (id: string | undefined): void => { if (id !== undefined) ids.set(id, owner) }
    // At another moment each time.
    const wait = async (): Promise<void> => {
      for (let requests = Math.floor(round / 3) % 6; requests > 0; requests--) await OWNERS[0].get(reader, 'none')
    }
    let sent: Array<Promise<unknown>> = []
    if (kind === 'create') {
      sent = OWNERS.flatMap(owner => ['work', 'up__work'].map(async name =>
        await owner.create(dying, name, `${name} at create ${round} ${owner.name}`, 1_000).then(note(owner))))
      await Promise.race(sent)
    } else if (kind === 'update') {
      for (const owner of OWNERS) {
        const id = await owner.create(dying, 'ask', `at update ${round} ${owner.name}`, 10)
        note(owner)(id)
        await owner.reach(dying, id ?? '', 'input_required')
      }
      sent = [...ids].map(async ([id, owner]) => await owner.answer(dying, id))
    } else {
      for (const owner of OWNERS) note(owner)(await owner.create(dying, 'work', `at end ${round} ${owner.name}`, 100))
      await until(async () => (await this.#notes()).includes(`end at end ${round} ada`), 'the end', 60_000, 1)
    }
    await wait()
    await dying.end('SIGKILL')
    await Promise.all(sent)
    return ids
  }

  /** A task in the middle of which its node was killed ends, in one way or the other. */
  async #settle (owner: TaskOwner, id: string, kind: string, node: Gateway): Promise<void> {
    await this.#isKnown(owner, [id])
    const found = await owner.reach(node, id, 'input_required', 'completed', 'failed')
    this.count(`${kind}: ${String(found.status)}`)
    if (found.status === 'input_required') {
      await owner.answer(node, id)
      await owner.reach(node, id, 'completed')
    }
    await this.#keep(owner, id)
  }

  async #keep (owner: TaskOwner, id: string): Promise<void> {
    const task = await owner.get(this.nodes[0] as Gateway, id)
    this.finals.push({ owner, id, text: JSON.stringify(task) })
  }

  /** Every node knows the tasks of an owner, and tells no other of them. */
  async #isKnown (owner: TaskOwner, ids: string[]): Promise<void> {
    const other = owner === OWNERS[0] ? OWNERS[1] : OWNERS[0]
    for (const node of this.nodes) {
      const unknown = await other.ask(node, 'tasks/get', { taskId: 'x'.repeat(22) })
      this.#t.match(unknown, { error: { code: -32602 } })
      for (const taskId of ids) {
        this.#t.match(await owner.get(node, taskId), { taskId })
        this.#t.strictSame(await other.ask(node, 'tasks/get', { taskId }), unknown)
      }
    }
  }

  async #areUnchanged (finals: Final[]): Promise<void> {
    for (const { owner, id, text } of finals) {
      for (const node of this.nodes) this.#t.equal(JSON.stringify(await owner.get(node, id)), text)
    }
  }

  async #notes (): Promise<string[]> {
    return (await readFile(this.#runs, 'utf8')).split('\n')
  }

  async #ranOnce (): Promise<void> {
    const tags = (await this.#notes()).filter(tag => tag !== '' && !tag.startsWith('end '))
    this.#t.strictSame(tags.filter((tag, index) => tags.indexOf(tag) !== index), [], 'nothing ran twice')
    this.seen.runs = tags.length
  }

  /** No task works, and none that was final is another by now. */
  async end (): Promise<void> {
    const [node] = this.nodes as [Gateway]
    const states: Record<string, number> = {}
    for (let cursor: unknown, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const { result } = await OWNERS[1].ask(node, 'patchbay/tasks', { ...(cursor !== undefined && { cursor }) }) ?? {}
      for (const { status } of result?.tasks as Array<{ status: string }>) states[status] = (states[status] ?? 0) + 1
      cursor = result?.nextCursor
    }
    this.#t.equal(states.working, undefined)
    this.#t.equal(states.input_required, undefined)
    await this.#areUnchanged(this.finals)
    this.#t.ok(Number(this.seen['followed completed']) > 0, 'tasks of the upstream went on')
    this.#t.comment(JSON.stringify({ rounds: ROUNDS, ...this.seen, states, finals: this.finals.length }))
  }
}

async function runRounds (t: Test, store: Json): Promise<void> {
  t.setTimeout(7_200_000)
  const runs = `${await folder(t, { runs: '' })}/runs`
  await writeFile(runs, '')
  const upstream = await gatewayOn(t, ['--plugin', TOOLS], { RUNS: runs })
  await upstream.start()
  const env = {
    RUNS: runs,
    PATCHBAY_API_KEYS: JSON.stringify(apiKeys),
    PATCHBAY_RATE: '100000',
    PATCHBAY_BURST: '100000',
    PATCHBAY_MCP_SERVERS: JSON.stringify({ up: { type: 'http', url: `${upstream.url}/mcp`, revision: '2026-07-28' } }),
    ...store
  }
  const data = await dataFolder(t)
  const nodes: Gateway[] = []
  for (let count = 0; count < 3; count++) nodes.push(new Gateway(t, await freePort(), data, ['--plugin', TOOLS], env))
  await Promise.all(nodes.map(async node => await node.start()))
  const rounds = new Rounds(t, nodes, runs)
  for (let round = 0; round < ROUNDS; round++) await rounds.run(round)
  await rounds.end()
}

const name = `${ROUNDS} times a node is killed that has tasks in every state: none is lost, changed, run twice or told to others`

t.test(`${name}, on one data folder`, async t => { await runRounds(t, {}) })

t.test(`${name}, on one Redis`, withRedis, async t => {
  await runRounds(t, { PATCHBAY_REDIS: (await redisServer(t)).url })
})
