import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch } from '../support/process.js'
import { until } from '../support/wait.js'
import { documentOf } from '../upstreams/openapi/api.js'

const WAIT = 30_000
const withOperations = (...names: string[]): string =>
  JSON.stringify(documentOf(Object.fromEntries(names.map(name => [`/${name}`, { get: { operationId: name } }]))))

/** A process in front of an API, the names of its tools, and how to replace the document. */
async function serving (t: Test, args: string[]) {
  const place = await folder(t, { 'api.json': withOperations('one', 'two') })
  const mcpServers = { api: { openapi: './api.json', url: 'http://127.0.0.1:9' } }
  await writeFile(join(place, 'patchbay.json'), JSON.stringify({ mcpServers, tools: false }))
  const launched = await launch(t, ['--ephemeral', '--port', '0', '--config', join(place, 'patchbay.json'), ...args]).up()
  const url = await launched.url()
  const names = async (): Promise<string[]> => {
    const reply = await fetch(`${url}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
    })
    const { result } = await reply.json() as { result: { tools: Array<{ name: string }> } }
    return result.tools.map(({ name }) => name).filter(name => name.startsWith('api__'))
  }
  const replace = async (text: string): Promise<void> => {
    await writeFile(join(place, 'api.json.new'), text)
    await rename(join(place, 'api.json.new'), join(place, 'api.json'))
  }
  return { launched, names, replace }
}

for (const [how, args] of [['SIGHUP', []], ['--reload', ['--reload']]] as const) {
  t.test(`a process takes over a changed document with ${how}, and a broken one changes nothing`, async t => {
    const { launched, names, replace } = await serving(t, [...args])
    const reload = (): void => { if (how === 'SIGHUP') launched.kill('SIGHUP') }
    const are = async (...wanted: string[]): Promise<void> =>
      await until(async () => (await names()).join() === wanted.map(name => `api__${name}`).join(), wanted.join(), WAIT)
    await are('one', 'two')
    await replace(withOperations('two', 'three'))
    reload()
    await are('three', 'two')
    await replace('{')
    reload()
    await until(() => /cannot be used: it is not valid JSON; it is served as it was/.test(launched.stderr), 'the warning', WAIT)
    t.strictSame(await names(), ['api__three', 'api__two'])
    await replace(withOperations('four'))
    reload()
    await are('four')
  })
}
