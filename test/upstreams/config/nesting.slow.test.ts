import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { flatten, resolveOptions } from '../../../options.js'
import { describeNesting, VIA, viaFor } from '../../../upstreams/config/nesting.js'
import { readEntries } from '../../../upstreams/config/read-entries.js'
import { COMMAND } from '../../support/command.js'
import { FIXTURE, folder, initialize, launch } from '../../support/process.js'
import { until } from '../../support/wait.js'

const program = (args: string[], env: Record<string, string> = {}) =>
  ({ kind: 'stdio', command: 'patchbay', args, env, cwd: '/work' }) as const

t.test('an entry that has started the gateway is left out, with a warning, and others are not', async t => {
  const around = { home: '/home/ada', cwd: '/work' }
  const options = flatten(
    resolveOptions({
      mcpServers: {
        inner: { command: 'patchbay', args: ['--stdio'], env: { TOKEN: 's3cret' } },
        other: { command: 'patchbay' },
        url: { url: 'http://127.0.0.1:1/mcp' }
      }
    })
  )
  const outer = await readEntries(options, { ...around, env: {} })
  t.strictSame([outer.entries.map(({ alias }) => alias), outer.warnings], [['inner', 'other', 'url'], []])
  const address = outer.entries[0]?.address
  if (address?.kind !== 'stdio') throw new Error('no program')
  const inner = await readEntries(options, { ...around, env: { [VIA]: viaFor(address, {}) } })
  t.strictSame(inner.entries.map(({ alias }) => alias), ['other', 'url'])
  t.strictSame(inner.warnings, [
    `option mcpServers.inner would start what has started this gateway (variable ${VIA}); it is left out`
  ])
})

t.test('gateways inside of each other start programs to a depth of eight', t => {
  let env: Record<string, string> = {}
  for (let depth = 0; depth < 8; depth++) {
    const address = program([String(depth)])
    t.equal(describeNesting(address, env), undefined)
    env = { [VIA]: viaFor(address, env) }
  }
  t.match(describeNesting(program(['8']), env), /^would be started by a gateway inside of 8 others/)
  t.equal(describeNesting({ kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} }, env), undefined)
  t.end()
})

t.test('the variable has digests alone, which variables of an entry change, and ignores what is none', t => {
  const value = viaFor(program(['--token', 's3cret'], { A: 's3cret', B: '2' }), { [VIA]: 'no digest,,s3cret!' })
  t.match(value, /^[\w-]{8}$/)
  t.equal(value, viaFor(program(['--token', 's3cret'], { B: '2', A: 's3cret' }), {}))
  t.not(value, viaFor(program(['--token', 's3cret'], { A: 's3cret' }), {}))
  t.end()
})

/**
 * Each start of a gateway by another appends the variable to a file, and more than this many end at once: the test
 * starts no more processes, whatever the gateways do.
 */
const MOST = 12

/** An entry that starts the gateway of another file, in a way that does not show which. */
function starting (file: string, counter: string): object {
  const script = `echo "$${VIA}" >>"$0"; [ "$(wc -l <"$0")" -le ${MOST} ] || exit 1; PATCHBAY_MCP_CONFIG="$1" exec "$2" "$3" --stdio --ephemeral --plugin "$4"`
  return { command: 'sh', args: ['-c', script, counter, file, process.execPath, COMMAND, FIXTURE] }
}

/**
 * The echo tools of a gateway with this file, over stdio, and how deep gateways were started behind it. A slow one may
 * be started twice.
 */
async function nested (
  t: Test,
  file: string,
  counter: string,
  last: string
): Promise<{ tools: string[], depths: number[] }> {
  const outer = launch(t, ['--stdio', '--ephemeral', '--plugin', FIXTURE, '--mcp-config', file], {
    env: { PATCHBAY_LIMITS: 'upstreamListWait=100' }
  })
  outer.send(initialize)
  await outer.next()
  outer.send({ method: 'notifications/initialized' })
  let tools: string[] = []
  let id = 0
  await until(async () => {
    outer.send({ id: ++id, method: 'tools/list' })
    let message = await outer.next()
    while (message['id'] !== id) message = await outer.next()
    tools = (message['result'] as { tools: Array<{ name: string }> }).tools
      .map(({ name }) => name)
      .filter(name => name.endsWith('echo'))
    return tools.includes(last)
  }, last)
  return {
    tools: tools.sort(),
    depths: [...new Set((await readFile(counter, 'utf8')).trim().split('\n'))].map(via => via.split(',').length).sort()
  }
}

t.test('a gateway that starts itself does so once', async t => {
  const place = await folder(t, {})
  const [file, counter] = [join(place, 'mcp.json'), join(place, 'starts')]
  await writeFile(file, JSON.stringify({ mcpServers: { self: starting(file, counter) } }))
  t.strictSame(await nested(t, file, counter, 'self__echo'), { tools: ['echo', 'self__echo'], depths: [1] })
})

t.test('two gateways that start each other do so once', async t => {
  const place = await folder(t, {})
  const [a, b, counter] = [join(place, 'a.json'), join(place, 'b.json'), join(place, 'starts')]
  await writeFile(a, JSON.stringify({ mcpServers: { b: starting(b, counter) } }))
  await writeFile(b, JSON.stringify({ mcpServers: { a: starting(a, counter) } }))
  t.strictSame(await nested(t, a, counter, 'b__a__echo'), { tools: ['b__a__echo', 'b__echo', 'echo'], depths: [1, 2] })
})
