import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { build, type Options } from '../../app.js'
import type { StoredTasks } from '../../protocol/tasks/stored-tasks.js'
import { answerTask, askInTask, type TaskRequest } from '../../protocol/tasks/task-record.js'
import { echo, MODERN } from '../load/messages.js'
import { overHttp } from '../load/transports.js'
import type { Finding, Question } from '../measure/goal.js'
import { race } from '../measure/race.js'
import { median, ratioOf, short, spreadOf } from '../measure/statistics.js'
import { bareFastify, patchbay } from '../servers/catalogue.js'

const SIZES = [1, 1_000, 10_000] as const
const MANY = 10_000
/** How many steps of a kind are taken for one sample. */
const STEPS = 200
/** For how long the CPU time of waiting tasks is taken, in milliseconds. */
const IDLE = 10_000
const LIMITS = { maxTasks: 100_000, maxTasksPerPrincipal: 100_000 }
const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
const QUESTION = { name: 'who', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: FORM } }
const REQUEST: TaskRequest = { params: { name: 'dig', arguments: { metres: 20 } }, capabilities: { elicitation: {} } }

type Kind = 'create' | 'get' | 'update'

/** Measures what tasks cost other calls, what tasks cost that wait for answers, and how steps grow with them. */
export const tasks: Question = async setting => [
  ...await race({
    what: 'tasks, a call that is none',
    goal: '≥ 0.80 of bare Fastify',
    limit: bareFastify,
    ours: patchbay,
    peers: [],
    over: server => overHttp(server, { era: MODERN, ask: echo(32) })
  }, setting),
  ...await inStore('memory', setting),
  ...await inStore('disk', setting)
]

const PLACES = { memory: 'in memory', disk: 'on disk' }

async function inStore (where: keyof typeof PLACES, { rounds, say }: Parameters<Question>[0]): Promise<Finding[]> {
  say(`tasks ${PLACES[where]}`)
  const data = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const times = new Map<number, Record<Kind, number[]>>(SIZES.map(size => [size, { create: [], get: [], update: [] }]))
  try {
    const { tasks, close } = await openGateway(where === 'memory' ? { ephemeral: true } : { data })
    const before = heap()
    for (const size of SIZES) {
      await fill(tasks, size)
      // The first round finds code that is not compiled yet.
      for (let round = 0; round <= rounds; round++) await measure(tasks, round === 0 ? undefined : times.get(size))
    }
    const kept = (heap() - before) / MANY / 1_024
    const cpu = await idleCpu()
    await close()
    const size = where === 'disk' ? statSync(join(data, 'patchbay.db')).size / MANY / 1_024 : undefined
    return [
      row(`tasks ${PLACES[where]}, one that waits, KiB of memory`, where === 'memory' ? '≤ 2 KiB' : '≤ 0.1 KiB', [kept]),
      ...(size === undefined ? [] : [row('tasks on disk, one that waits, KiB of the file', undefined, [size])]),
      row(`tasks ${PLACES[where]}, CPU while ${short(MANY)} wait, % of a core`, '≤ 1 %', [cpu]),
      ...(['create', 'get', 'update'] as const).flatMap(kind => growthOf(where, kind, times))
    ]
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

const row = (what: string, goal: string | undefined, samples: number[]): Finding =>
  ({ what, ...(goal !== undefined && { goal }), ours: spreadOf(samples), limit: '-', peers: [] })

function growthOf (where: keyof typeof PLACES, kind: Kind, times: Map<number, Record<Kind, number[]>>): Finding[] {
  const base = times.get(1)?.[kind] ?? []
  return SIZES.slice(1).map(size => ({
    what: `tasks ${PLACES[where]}, ${kind} with ${size.toLocaleString('en-US')}`,
    goal: '≤ 1.2 × that with 1',
    ours: ratioOf(times.get(size)?.[kind] ?? [], base),
    limit: `${short(median(base))} µs with 1`,
    peers: []
  }))
}

async function openGateway (options: Partial<Options>): Promise<{ tasks: StoredTasks, close: () => Promise<void> }> {
  const app = await build({ tools: false, plugins: [], audit: false, limits: LIMITS, ...options })
  await app.ready()
  return { tasks: await app.mcp.storedTasks(), close: async () => await app.close() }
}

/** Creates a task that waits for an answer. */
async function wait (tasks: StoredTasks): Promise<string> {
  const { id } = await tasks.create({ kind: 'task', owner: 'ada', tool: 'dig', scopes: ['mcp'] }, REQUEST)
  await tasks.move(id, askInTask(tasks.node, [QUESTION]))
  return id
}

/** Makes so many tasks wait, of one caller. */
async function fill (tasks: StoredTasks, size: number): Promise<void> {
  let there = (await tasks.list('ada', undefined, MANY)).tasks.length
  while (there < size) {
    const more = Math.min(100, size - there)
    await Promise.all(Array.from({ length: more }, async () => await wait(tasks)))
    there += more
  }
}

/** Takes the time of steps, in microseconds for each, and removes what they created. */
async function measure (tasks: StoredTasks, times: Record<Kind, number[]> | undefined): Promise<void> {
  const ids: string[] = []
  const timed = async (kind: Kind, step: (index: number) => Promise<unknown>): Promise<void> => {
    const start = performance.now()
    for (let index = 0; index < STEPS; index++) await step(index)
    times?.[kind].push((performance.now() - start) * 1_000 / STEPS)
  }
  await timed('create', async () => { ids.push(await wait(tasks)) })
  await timed('get', async index => await tasks.get(ids[index] ?? ''))
  const answers = { who: { action: 'accept', content: { name: 'Ada' } } }
  await timed('update', async index => await tasks.move(ids[index] ?? '', answerTask(tasks.node, answers, () => true)))
  for (const id of ids) {
    const task = await tasks.get(id)
    if (task !== undefined) await tasks.forget(task)
  }
}

async function idleCpu (): Promise<number> {
  const start = process.cpuUsage()
  await sleep(IDLE)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000 / IDLE * 100
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** The bytes that are kept once garbage is collected. */
function heap (): number {
  for (let time = 0; time < 3; time++) collect()
  return process.memoryUsage().heapUsed
}
