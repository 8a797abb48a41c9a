import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listening } from '../support/gateway.js'
import { ADA, apiKeys, bearer, BOB } from '../support/keys.js'
import { folder, launch, type Ended } from '../support/process.js'
import { until } from '../support/wait.js'

type Json = Record<string, unknown>

const run = async (t: Test, args: string[]): Promise<Ended> => {
  const launched = launch(t, ['approvals', ...args])
  launched.end()
  return await launched.exit()
}

t.test('patchbay approvals lists what waits, and approves and declines it', async t => {
  const rules = [{ ask: ['echo'], by: 'operator' as const, message: 'Look twice.' }]
  const { url, app } = await listening(t, { apiKeys, rules })
  const place = await folder(t, { 'ada.key': ADA, 'bob.key': BOB })
  const at = ['--url', `${url}/mcp`, '--key', join(place, 'bob.key')]
  const call = async (given: Json, name = 'echo'): Promise<Json> => {
    const response = await fetch(`${url}/message`, {
      method: 'POST',
      headers: { ...bearer(ADA), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })
    })
    return (await response.json() as { result: Json }).result
  }
  const waits = async (count: number): Promise<void> =>
    await until(async () => (await app.mcp.store.values.keys('approvals/pending')).length === count, 'it waits')

  t.match(await run(t, ['list', '--format', 'text', ...at]), { code: 0, stderr: /No call waits/ })
  const first = call({ text: 'yes' })
  await waits(1)
  const { stdout, code } = await run(t, ['--format', 'text', ...at])
  t.equal(code, 0)
  t.match(stdout, /^\S+\n {2}echo for ada \(rules\.0, \d+ s left\)\n {2}Look twice\.\n {2}\{\n {4}"text": "yes"\n {2}\}\n$/)
  const [, start = ''] = /\.(\S{6})/.exec(stdout) ?? []
  t.match(await run(t, ['approve', start, ...at]), { code: 0, stderr: /Approved: echo for ada/ })
  t.match(await first, { content: [{ text: 'yes' }] })

  const second = call({ text: 'no' })
  await waits(1)
  const [{ id }] = JSON.parse((await run(t, ['list', '--json', ...at])).stdout) as [{ id: string }]
  t.match(await run(t, ['decline', id, ...at]), { code: 0, stderr: /Declined: echo for ada/ })
  t.match(await second, { isError: true })
  t.match(await run(t, ['approve', id, ...at]), { code: 1, stderr: /no call of the id/ })
  t.match(await run(t, ['approve', ...at]), { code: 1, stderr: /one of list, approve ID, decline ID and answer ID FIELD=VALUE/ })

  app.mcp.rules.replace({ rules: [{ allow: ['ask_name'], questions: 'operator' }], rulesDefault: 'allow' })
  const third = call({}, 'ask_name')
  await waits(1)
  const asked = (await run(t, ['--format', 'text', ...at])).stdout
  t.match(asked, /ask_name for ada [^\n]*\n {2}asks: What is your name\?\n {4}name \(string\)\n {2}called with\n/)
  const [, question = ''] = /\.(\S{6})/.exec(asked) ?? []
  t.match(await run(t, ['answer', question, 'nam=Ada', ...at]), { code: 1, stderr: /there is no argument "nam"/ })
  t.match(await run(t, ['answer', question, 'name=Ada', ...at]), { code: 0, stderr: /Answered: ask_name for ada/ })
  t.match(await third, { content: [{ text: 'Hello, Ada!' }] })
  t.not((await run(t, ['--url', `${url}/mcp`, '--key', join(place, 'ada.key')])).code, 0, 'only for the scope admin')
})
