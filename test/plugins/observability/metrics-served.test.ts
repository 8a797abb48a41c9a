import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Options } from '../../../app.js'
import { gateway, listening } from '../../support/gateway.js'
import { openSession } from '../../support/http-session.js'
import { promtool, scrape, seriesOf, sum } from '../../support/metrics.js'
import { client } from '../../support/recorder.js'
import { recordSpans } from '../../support/tracing.js'
import { until } from '../../support/wait.js'

t.test('both text formats are valid, and Accept chooses', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  for (const name of ['echo', 'refuse', 'boom']) {
    await session.post({ id: name, method: 'tools/call', params: { name, arguments: { text: '"\\\n' } } })
  }
  const plain = await app.inject('/metrics')
  t.match(plain.headers, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' })
  const checked = promtool(plain.body)
  if (checked === undefined) t.comment('there is no promtool here')
  else t.match(checked, { status: 0, said: '' })
  const open = await app.inject({
    url: '/metrics',
    headers: { accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.1' }
  })
  t.equal(open.headers['content-type'], 'application/openmetrics-text; version=1.0.0; charset=utf-8')
  t.match(open.body, /^# TYPE patchbay_calls counter$/m)
  t.match(open.body, /\n# EOF\n$/)
  const families = [...open.body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name: name as string,
    type: type as string
  }))
  for (const key of seriesOf(open.body).keys()) {
    const name = key.split('{')[0] as string
    t.ok(
      families.some(
        ({ name: family, type }) =>
          name === family ||
          (type === 'counter' && name === `${family}_total`) ||
          (type === 'histogram' && /^_(bucket|sum|count)$/.test(name.slice(family.length)) && name.startsWith(family))
      ),
      key
    )
  }
  t.equal(
    (await app.inject('/metrics')).body.match(/^# TYPE (\S+) counter$/m)?.[1]?.endsWith('_total'),
    true,
    'and the other format is as before'
  )
})

t.test('a bucket has the trace of its latest recorded call, in OpenMetrics alone', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { audit: false })
  const { request } = client(app.mcp.dispatcher)
  for (let count = 0; count < 2; count++) await request('tools/call', { name: 'echo', arguments: { text: 'a' } })
  const open = await app.inject({ url: '/metrics', headers: { accept: 'application/openmetrics-text' } })
  const lines = open.body.split('\n').filter(line => line.includes(' # '))
  const last = spans.at(-1)?.traceId
  t.ok(
    lines.some(line =>
      new RegExp(
        `^mcp_server_operation_duration_seconds_bucket\\{mcp_method_name="tools/call",gen_ai_tool_name="echo",le="[^"]+"\\} \\d+ # \\{trace_id="${last}"\\} [0-9.e-]+ \\d+\\.\\d{3}$`
      ).test(line)
    ),
    lines.join('\n')
  )
  t.notMatch((await app.inject('/metrics')).body, / # \{/)
})

t.test('docs/observe.md has a row for each metric, and no other', async t => {
  const page = readFileSync(new URL('../../../../docs/observe.md', import.meta.url), 'utf8')
  const rows = page
    .slice(page.indexOf('### What is measured'), page.indexOf('### Dashboard and alerts'))
    .split('\n')
    .filter(line => line.startsWith('| `'))
  const written = rows.flatMap(row =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
  )
  const patterns = written.map(name => new RegExp(`^${name.replaceAll('*', '.*')}$`))
  const { body } = await (await gateway(t)).inject('/metrics')
  const served = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name)
  t.strictSame(served.filter(name => !patterns.some(pattern => pattern.test(name))), [], 'served, but not described')
  t.strictSame(
    written.filter((_, index) => !served.some(name => patterns[index]?.test(name))),
    [],
    'described, but not served'
  )
})

t.test('two gateways in one process have metrics of their own, and a closed one measures nothing', async t => {
  const [first, second] = [await gateway(t), await gateway(t)]
  await client(first.mcp.dispatcher).request('tools/list')
  t.equal(sum(await scrape(first), 'patchbay_calls_total'), 1)
  t.equal(sum(await scrape(second), 'patchbay_calls_total'), 0)
  await second.close()
  await second.mcp.metrics.read(undefined)
  // A scrape begins a new measurement, and that looks each 10 ms.
  await until(
    async () => ((await scrape(first)).get('nodejs_eventloop_lag_max_seconds') as number) > 0,
    'a delay of the event loop',
    60_000,
    50
  )
  const { text } = await second.mcp.metrics.read(undefined)
  t.equal(
    seriesOf(text).get('nodejs_eventloop_lag_max_seconds'),
    0,
    'the delay of the event loop is not measured any more'
  )
})

/** Whether a gateway with these options has `/metrics`, and measures. */
async function isServed (t: Test, options: Partial<Options>): Promise<[status: number, measured: boolean]> {
  const app = await gateway(t, options)
  return [(await app.inject('/metrics')).statusCode, 'metrics' in app.mcp]
}

t.test(
  'without the option they are served where other machines cannot come, and nothing is measured elsewhere',
  async t => {
    t.strictSame(await isServed(t, {}), [200, true])
    t.strictSame(await isServed(t, { metrics: false }), [404, false])
    t.strictSame(await isServed(t, { host: '0.0.0.0' }), [404, false])
    t.strictSame(await isServed(t, { host: '0.0.0.0', metrics: true }), [200, true])
  }
)
