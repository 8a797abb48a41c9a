import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSession, post } from '../support/http-requests.js'
import { initialize } from '../support/messages.js'
import { openSocket } from '../support/websocket-client.js'
import { Report } from '../support/report.js'
import { SHAPES, SMALL } from './amplification-shapes.js'
import { Gateway } from './gateway.js'
import { scenario } from './scenario.js'

/**
 * How many times what the same bytes cost as one string a message may cost, and how many times its own bytes may be
 * written.
 */
const MOST = { cpu: 10, memory: 10, written: 10, small: 10, smallWritten: 100 }
/** Less than this cannot be distinguished from the other work of the process, in milliseconds and bytes. */
const NOISE = { cpu: 50, memory: 32 * 1024 * 1024, written: 65_536 }
const TICK = 10
/**
 * An input has its cost each time, unlike what a machine takes away: a cost beyond the limit is measured again.
 */
const TRIES = 3

interface Cost { cpu: number, memory: number, written: number, sent: number }
/** Sends one message and waits until it is dealt with. */
type Send = (text: string) => Promise<void>

/**
 * The cost of messages of every shape, and of small requests in great number, for the process: no input may cost a
 * multiple of what its bytes cost as one string.
 */
export const amplification = scenario(
  { size: 4_000_000, times: 3, small: 400, subscriptions: 200, handshakes: 160, calls: 24 },
  async ({ size, times, small, subscriptions, handshakes, calls }) => {
    const report = new Report(
      `amplification: ${size} bytes of every shape, ${times} times, and ${small} small requests, against one string`
    )
    const gateway = await Gateway.start()
    for (const [transport, open] of Object.entries(transports)) {
      await shapes(report, gateway, transport, open, size, times)
    }
    await requests(report, gateway, small, subscriptions)
    report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
    await gateway.end()
    await smallHeap(report, size, handshakes, calls)
    return report
  }
)

const transports: Record<string, (gateway: Gateway) => Promise<Send>> = {
  message: async ({ port }) => async text => { await post(port, '/message', text) },
  session: async ({ port }) => {
    const id = await openSession(port, initialize())
    return async text => { await post(port, '/mcp', text, [['Mcp-Session-Id', id]]) }
  },
  websocket: async ({ port }) => {
    const socket = await openSocket(port)
    socket.send(initialize())
    await socket.inbox.next()
    return async text => {
      socket.send(text)
      // Whatever is answered, or not, comes before the answer to this.
      socket.send('{"jsonrpc":"2.0","id":"behind","method":"ping"}')
      while ((await socket.inbox.next() as { id?: unknown }).id !== 'behind') { /* the answer */ }
    }
  }
}

async function shapes (
  report: Report,
  gateway: Gateway,
  transport: string,
  open: (gateway: Gateway) => Promise<Send>,
  size: number,
  times: number
): Promise<void> {
  let base: Cost | undefined
  for (const [shape, make] of Object.entries(SHAPES)) {
    const text = make(size)
    const send = await open(gateway)
    const cost = await measure(
      gateway.pid,
      async () => {
        for (let round = 0; round < times; round++) await send(text)
        return times * text.length
      },
      ({ cpu }) => ratio(cpu, base?.cpu ?? 0, NOISE.cpu) < MOST.cpu
    )
    base ??= cost
    const [cpu, memory] = [ratio(cost.cpu, base.cpu, NOISE.cpu), ratio(cost.memory, base.memory, NOISE.memory)]
    const written = cost.written / Math.max(cost.sent, NOISE.written)
    report.row({
      transport,
      shape,
      'CPU ms': cost.cpu / times,
      'of a string': cpu,
      'memory MB': cost.memory / 1e6,
      ' of a string': memory,
      'written of sent': written
    })
    report.promise(
      cpu < MOST.cpu && memory < MOST.memory && written < MOST.written,
      `${transport}, ${shape}: CPU ${cpu.toFixed(1)}, memory ${memory.toFixed(1)}, written ${written.toFixed(1)} times a string`
    )
  }
}

/** In sessions that have something to remember already. */
async function requests (report: Report, gateway: Gateway, count: number, subscriptions: number): Promise<void> {
  let base: Cost | undefined
  for (const [what, make] of Object.entries({ ...SMALL, 'a session, and its end': undefined })) {
    const id = await openSession(gateway.port, initialize())
    await small(gateway.port, id, subscriptions, (index, send) => [
      send('resources/subscribe', { uri: `note:///${index}${'x'.repeat(1_000)}` })
    ])
    const cost = await measure(
      gateway.pid,
      async () =>
        make === undefined ? await sessions(gateway.port, count) : await small(gateway.port, id, count, make),
      ({ cpu }) => ratio(cpu, base?.cpu ?? 0, NOISE.cpu) < MOST.small
    )
    base ??= cost
    const cpu = ratio(cost.cpu, base.cpu, NOISE.cpu)
    const written = cost.written / Math.max(cost.sent, NOISE.written)
    report.row({
      transport: 'session',
      shape: what,
      'CPU ms': cost.cpu / count,
      'of a string': cpu,
      'memory MB': cost.memory / 1e6,
      ' of a string': ratio(cost.memory, base.memory, NOISE.memory),
      'written of sent': written
    })
    report.promise(
      cpu < MOST.small && written < MOST.smallWritten,
      `${what}: CPU ${cpu.toFixed(1)} times a ping, ${written.toFixed(1)} times its bytes are written`
    )
  }
}

async function small (
  port: number,
  session: string,
  count: number,
  make: NonNullable<(typeof SMALL)[string]>
): Promise<number> {
  let sent = 0
  let id = 0
  for (let index = 0; index < count; index++) {
    for (const text of make(index, (method, params = {}) =>
      JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    )) {
      await post(port, '/mcp', text, [['Mcp-Session-Id', session]])
      sent += text.length
    }
  }
  return sent
}

async function sessions (port: number, count: number): Promise<number> {
  for (let index = 0; index < count; index++) {
    const id = await openSession(port, initialize())
    await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': id } })
  }
  return count * initialize().length
}

/** A process with a small heap: many clients with large handshakes, and many large calls at once. */
async function smallHeap (report: Report, size: number, handshakes: number, calls: number): Promise<void> {
  const gateway = await Gateway.start({ env: { NODE_OPTIONS: '--max-old-space-size=512' } })
  const { port, pid } = gateway
  const hello = SHAPES['a handshake with much of its client']?.(size) ?? ''
  let welcome = 0
  for (let index = 0; index < handshakes; index++) if ((await post(port, '/mcp', hello)).status === 200) welcome++
  report.row({ transport: '512 MB', shape: 'handshakes', sent: handshakes, served: welcome })
  report.promise(
    welcome === handshakes,
    `a heap of 512 MB holds ${handshakes} sessions, however much their clients say of themselves: ${welcome}`
  )

  const fills = {
    strings: `"${'x'.repeat(size)}"`,
    objects: `[${'{},'.repeat(99_000)}"${'x'.repeat(Math.max(1, size - 297_000))}"]`,
    'too many objects': `[${'{},'.repeat(size / 3)}{}]`
  }
  for (const [fill, text] of Object.entries(fills)) {
    const statuses = await inFlight(gateway, text, calls)
    report.row({
      transport: '512 MB',
      shape: `calls that hold ${fill}`,
      sent: calls,
      served: statuses.filter(status => status === 200).length,
      refused: statuses.filter(status => status !== 200).length
    })
    report.promise(
      statuses.every(status => [200, 400, 503].includes(status)),
      `each is served or refused: ${statuses.join(', ')}`
    )
  }
  report.promise(
    gateway.pid === pid &&
      (await post(port, '/message', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).status === 200,
    'it goes on serving'
  )
  await gateway.end()
}

/** Calls that run until they are stopped, all at the same time; the status of each. */
async function inFlight (gateway: Gateway, fill: string, calls: number): Promise<number[]> {
  const { port } = gateway
  const key = String(performance.now())
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chaos_until","arguments":{"key":"${key}"},"_meta":{"x":${fill}}}}`
  const waiting = Array.from({ length: calls }, async () => (await post(port, '/message', body)).status)
  const all = Promise.all(waiting)
  for (;;) {
    const statuses = await Promise.race([all, sleep(200)])
    if (statuses !== undefined) return statuses
    await gateway.stop(key)
  }
}

const ratio = (cost: number, base: number, noise: number): number => Math.max(cost, noise) / Math.max(base, noise)

/**
 * Spending of the process while something was done: processor time in ms, the most memory beyond what it had, and bytes
 * that it wrote, wherever to.
 */
async function measure (pid: number, run: () => Promise<number>, isWithin: (cost: Cost) => boolean): Promise<Cost> {
  let cost = await measureOnce(pid, run)
  for (let tries = 1; tries < TRIES && !isWithin(cost); tries++) cost = await measureOnce(pid, run)
  return cost
}

async function measureOnce (pid: number, run: () => Promise<number>): Promise<Cost> {
  // From now on the peak is counted anew.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const [cpu, written, memory] = [cpuOf(pid), writtenBy(pid), statusOf(pid, 'VmRSS')]
  const sent = await run()
  return { cpu: cpuOf(pid) - cpu, written: writtenBy(pid) - written, memory: statusOf(pid, 'VmHWM') - memory, sent }
}

function cpuOf (pid: number): number {
  const [, , , , , , , , , , , user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/\(.*\) /, '')
    .split(' ')
  return TICK * (Number(user) + Number(system))
}

const writtenBy = (pid: number): number => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])

const statusOf = (pid: number, name: string): number =>
  1024 * Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
