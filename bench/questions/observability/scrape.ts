import { message, MODERN } from '../../load/messages.js'
import type { Finding } from '../../measure/goal.js'
import type { Setting } from '../../measure/rounds.js'
import { spreadOf } from '../../measure/statistics.js'
import { measuring, patchbay } from '../../servers/catalogue.js'
import { ServerProcess } from '../../servers/process.js'

const SERIES = 6_000
/** A tool that was called has about so many: the buckets of its duration, and counts. */
const PER_TOOL = 22
const WARM_UP = 20

/** How long does it take to read all metrics, when there are 6,000 series? */
export async function scrape ({ rounds, say }: Setting): Promise<Finding[]> {
  const what = `metrics, a scrape of ${SERIES} series, ms`
  say(what)
  const tools = Math.ceil(SERIES / PER_TOOL)
  const running = await ServerProcess.listen(measuring(patchbay, true), { BENCH_TOOLS: String(tools) })
  try {
    const url = `http://127.0.0.1:${running.port}`
    for (let tool = 0; tool < tools; tool++) await call(url, `lookup_${String(tool).padStart(5, '0')}`)
    for (let time = 0; time < WARM_UP; time++) await read(url)
    const times: number[] = []
    for (let round = 0; round < Math.max(rounds, 5); round++) times.push(await read(url))
    return [{ what, ours: spreadOf(times), limit: `${await seriesAt(url)} series`, peers: [] }]
  } finally {
    await running.stop()
  }
}

async function call (url: string, name: string): Promise<void> {
  const body = JSON.stringify(message(MODERN, 1, 'tools/call', { name, arguments: { query: 'x' } }))
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/call',
    'mcp-name': name
  }
  const reply = await fetch(`${url}/mcp`, { method: 'POST', headers, body })
  await reply.text()
  if (!reply.ok) throw new Error(`${name} was refused with ${reply.status}`)
}

/** In milliseconds. */
async function read (url: string): Promise<number> {
  const since = performance.now()
  await (await fetch(`${url}/metrics`)).text()
  return performance.now() - since
}

async function seriesAt (url: string): Promise<number> {
  return (await (await fetch(`${url}/metrics`)).text()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
    .length
}
