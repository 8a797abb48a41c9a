import t from 'tap'
import { nearestName } from '../../../lib/nearest-name.js'
import { createClient, prompt, tool } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { Speaker } from '../../support/speaker.js'
import { cpuTime } from '../../support/timing.js'

t.test('an unknown tool or prompt is answered with the name that was most likely meant', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(tool({ name: 'order', description: 'd', run: () => '' }))
  app.mcp.prompts.add(prompt({ name: 'summary', description: 'd', get: () => 'x' }))
  const speaker = new Speaker(app, { version: '2024-11-05' })
  t.match((await speaker.tool('ordr')).error, {
    code: -32602,
    message: 'Invalid params: Unknown tool: ordr; did you mean "order"?',
    data: { code: 'PATCHBAY_UNKNOWN_TOOL' }
  })
  t.match(
    (await speaker.request('prompts/get', { name: 'sumary' })).error.message,
    /Unknown prompt: sumary; did you mean "summary"\?$/
  )
  t.equal((await speaker.tool('nothing_like_it')).error.message, 'Invalid params: Unknown tool: nothing_like_it')
})

t.test('a tool that the caller may not know is not suggested', async t => {
  const app = await gateway(t, { scopes: { 'tools/order': ['shop'] } })
  app.mcp.tools.add(tool({ name: 'order', description: 'd', run: () => '' }))
  const ask = async (...scopes: string[]): Promise<string> => {
    const client = await createClient(app, { identity: { principal: 'ada', scopes: new Set(scopes) } })
    return await client.request('tools/call', { name: 'ordr' }).then(() => '', (error: Error) => error.message)
  }
  t.match(await ask('mcp', 'shop'), 'did you mean "order"?')
  t.equal(await ask('mcp'), 'Invalid params: Unknown tool: ordr')
})

t.test('a name without the prefix of its server is answered with the names that servers list it under', async t => {
  const app = await gateway(t, { scopes: { 'tools/vault__read_file': ['vault'] } })
  const add = (name: string): void => { app.mcp.tools.add(tool({ name, description: 'd', run: () => '' })) }
  for (const name of ['files__read_file', 'vault__read_file', 'files__spread_file', 'read_files']) add(name)
  const client = await createClient(app, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  const ask = async (name: string): Promise<string> =>
    await client.request('tools/call', { name }).then(
      () => '',
      (error: Error) => error.message
    )
  t.equal(
    await ask('read_file'),
    'Invalid params: Unknown tool: read_file; did you mean "files__read_file"?',
    'not one that the caller may not see'
  )
  for (const name of ['b', 'c', 'd']) add(`${name}__read_file`)
  t.equal(
    await ask('read_file'),
    'Invalid params: Unknown tool: read_file; did you mean "b__read_file" or "c__read_file" or "d__read_file"?',
    'at most three'
  )
  t.notMatch(await ask(''), 'did you mean')
})

t.test('the nearest of ten thousand long names is found in little time, however the unknown one looks', async t => {
  const known = Array.from(
    { length: 10_000 },
    (_, index) => `launchdarkly-production-e-1ec985__create-${String(index).padStart(8, '0')}`
  )
  let nearest: string | undefined
  for (const name of [
    'launchdarkly-production-e-1ec985__craete-00000007',
    'launchdarkly-production-e-1ec985__create-99999999',
    'x'.repeat(49),
    'x'.repeat(1_000_000)
  ]) {
    const ms = cpuTime(() => {
      nearest = nearestName(name, known)
    })
    t.ok(ms < 400, `${ms} ms`)
    if (name.includes('craete')) t.equal(nearest, 'launchdarkly-production-e-1ec985__create-00000007')
  }
})
