import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t from 'tap'
import { WebSocket } from 'ws'
import { ADA, BOB, bearer, listed } from '../support/keys.js'
import { modernMeta } from '../support/modern.js'
import { recordSpans, type RecordedSpan } from '../support/tracing.js'
import { until } from '../support/wait.js'
import { withBrowser } from './support/browser.js'
import { consoleGateway } from './support/open.js'
import { visit } from './support/visit.js'

/** Texts that other callers send and get; none of them may be seen by who watches. */
const CANARY = 'canary-7c1f'
const KEY = `pb_carol-${CANARY}-0123456789-0123456789-01`

t.test(
  'arguments, results, keys and headers of others reach no watcher, metric, trace, export or memory of the page',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const apiKeys = [listed('ada', ADA), listed('bob', BOB, ['admin']), listed('carol', KEY)]
    const spans = recordSpans(t)
    const { url } = await consoleGateway(t, { apiKeys })
    const page = await visit(t, url, { expected: [/401/] })
    await page.getByLabel('API key').fill(BOB)
    await page.getByRole('button', { name: 'Log in with this key' }).click()
    await page.getByRole('link', { name: 'Watch', exact: true }).click()
    await page.getByRole('heading', { name: 'In flight' }).waitFor()
    // A call that ended before the feed was open is not in it.
    await page.getByText('Healthy').first().waitFor()

    await callOverHttp(url, 'echo', { text: `${CANARY} argument` })
    await callOverHttp(url, 'refuse', { [`${CANARY} name`]: `${CANARY} value` })
    await callOverHttp(url, `${CANARY}_tool`, {})
    await callOverSocket(url)
    const ended = page.getByRole('region', { name: 'Calls that have ended' })
    await ended.getByText('carol').nth(2).waitFor()
    await ended.getByText('say').first().waitFor()

    t.notMatch(await page.content(), CANARY, 'the page')
    t.notMatch(await memoryOf(page), CANARY, 'the memory of the page')
    await page.getByRole('link', { name: 'Messages', exact: true }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as JSON lines' }).click()
    ])
    const exported = readFileSync(await download.path(), 'utf8')
    t.match(exported, /patchbay\/watch/)
    t.notMatch(exported, CANARY, 'what is exported')
    t.notMatch(exported, BOB, 'the own key')
    t.notMatch(await page.content(), BOB, 'the own key is nowhere on the page')
    const metrics = await fetch(`${url}/metrics`, { headers: bearer(BOB) })
    t.notMatch(await metrics.text(), CANARY, 'metrics')
    const names = spans.map(({ name }) => name)
    for (const name of ['tools/call echo', 'tools/call refuse', 'tools/call', 'tools/call say']) {
      t.ok(names.includes(name), name)
    }
    for (const secret of [CANARY, ADA, BOB]) t.notMatch(tracedText(spans), secret, 'traces')
  }
)

/** All that the spans have, but for the ids of requests, which belong there by the conventions. */
function tracedText (spans: RecordedSpan[]): string {
  return JSON.stringify(spans, (name, value: unknown) => name === 'jsonrpc.request.id' ? undefined : value)
}

async function callOverHttp (url: string, name: string, args: object): Promise<void> {
  const headers = {
    ...bearer(KEY),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
    'x-canary': CANARY,
    cookie: `c=${CANARY}`
  }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: `${CANARY}-id`,
    method: 'tools/call',
    params: { name, arguments: args, _meta: modernMeta() }
  })
  await (await fetch(`${url}/mcp`, { method: 'POST', headers, body })).text()
}

async function callOverSocket (url: string): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers: { ...bearer(KEY), 'x-canary': CANARY } })
  const answered = new Set<unknown>()
  socket.on('message', data => answered.add((JSON.parse(String(data)) as { id?: unknown }).id))
  await until(() => socket.readyState === socket.OPEN)
  const send = (message: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'other', version: '1' } }
  })
  await until(() => answered.has(1))
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/call', params: { name: 'say', arguments: { level: 'info', text: `${CANARY} log` } } })
  await until(() => answered.has(2))
  socket.close()
}

/** Every string in the page's memory. */
async function memoryOf (page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page)
  const chunks: string[] = []
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => { chunks.push(chunk) })
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  await session.detach()
  return chunks.join('')
}
