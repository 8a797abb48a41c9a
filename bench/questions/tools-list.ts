import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { overHttp } from '../load/transports.js'
import { HttpWire } from '../load/http-wire.js'
import { LEGACY, listTools, message, MODERN, type Ask } from '../load/messages.js'
import { exchange } from '../load/wire.js'
import type { Finding, Question } from '../measure/goal.js'
import { race } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { bareBytes, patchbay, sdk1, sdk2 } from '../servers/catalogue.js'
import { ServerProcess, type Environment, type Server } from '../servers/process.js'

/**
 * Measures what a page of the list of tools costs, compared with sending the very same bytes. Peers send the whole
 * list.
 */
export const toolsList: Question = async setting => [
  ...(await list(
    { count: 100, connections: 32, peers: [sdk2, sdk1], goal: '≥ 0.85 of bare Fastify with the same bytes' },
    setting
  )),
  ...(await list({ count: 5_000, connections: 4, peers: [sdk2] }, setting))
]

interface Shape { count: number, connections: number, peers: Server[], goal?: string }

async function list ({ count, connections, peers, ...goal }: Shape, setting: Setting): Promise<Finding[]> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const env = { BENCH_TOOLS: String(count), PATCHBAY_PAGE_SIZE: '100' }
  const shape = { era: MODERN, ask: listTools(100), connections, env } as const
  try {
    const file = join(folder, 'page.json')
    writeFileSync(file, await pageOf(env, shape.ask))
    return await race({
      what: count === 100 ? 'tools/list, 100 tools' : `tools/list, a page of ${count.toLocaleString('en-US')} tools`,
      ...goal,
      limit: bareBytes(file),
      ours: patchbay,
      peers,
      over: server => overHttp(server, { ...shape, era: server === sdk1 ? LEGACY : MODERN })
    }, setting)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function pageOf (env: Environment, { method, params }: Ask): Promise<string> {
  const running = await ServerProcess.listen(patchbay, env)
  const wire = await HttpWire.open(running.port, MODERN)
  try {
    return await exchange(wire, wire.frame(message(MODERN, 100, method, params)))
  } finally {
    wire.close()
    await running.stop()
  }
}
