import t, { type Test } from 'tap'
import { tool, Type } from '../../../app.js'
import { McpError } from '../../../protocol/wire/errors.js'
import { listening } from '../../support/gateway.js'
import { launch, type Ended } from '../../support/process.js'
import { takeTime, until } from '../../support/wait.js'
import { lacksTerminal, openTerminal } from './terminal.js'

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

const TOOLS = [
  tool({
    name: 'dig',
    description: 'Digs',
    input: Type.Object({ ms: Type.Integer() }),
    task: 'must',
    run: async ({ ms }, call) => {
      call.progress(1, 2, 'half of the hole')
      await takeTime(ms, call.signal)
      return 'The hole is dug.'
    }
  }),
  tool({
    name: 'ask',
    description: 'Asks',
    task: 'must',
    run: async (_, call) => {
      const { action, content } = await call.elicit('who', { message: 'Who are you?', requestedSchema: FORM })
      return `${action} ${String(content?.name)}`
    }
  }),
  tool({ name: 'break', description: 'Fails', task: 'must', run: () => { throw new McpError(-32050, 'no shovel') } })
]

async function run (t: Test, args: string[]): Promise<Ended> {
  const launched = launch(t, args)
  launched.end()
  return await launched.exit()
}

for (const revision of ['2026-07-28', '2025-11-25']) {
  t.test(`a tool that runs as a task only is called, and its end is waited for, in ${revision}`, async t => {
    const { app, url } = await listening(t, {
      tools: false, plugins: [async ({ mcp: { tools } }) => { for (const one of TOOLS) tools.add(one) }]
    })
    const at = ['--url', `${url}/mcp`, '--revision', revision]
    const dug = await run(t, ['call', 'dig', 'ms=1500', ...at])
    t.match(dug, { code: 0, stderr: '' })
    t.match(JSON.parse(dug.stdout), { content: [{ type: 'text', text: 'The hole is dug.' }] })
    t.match(await run(t, ['call', 'break', ...at]), { code: 1, stdout: /"isError":true/ }, 'its failure is a result')

    const endless = launch(t, ['call', 'dig', 'ms=600000', ...at])
    const tasks = await app.mcp.storedTasks()
    const states = async (): Promise<string[]> => {
      const ids = await app.mcp.store.values.keys('tasks')
      return await Promise.all(ids.map(async id => String((await tasks.get(id))?.status)))
    }
    await until(async () => (await states()).includes('working'), 'the task')
    endless.kill('SIGINT')
    t.match(await endless.exit(), { code: 130 })
    await until(async () => (await states()).includes('cancelled'), 'the cancellation')

    await t.test('on a terminal its state is shown, and its questions are asked', { skip: lacksTerminal }, async t => {
      const digging = await openTerminal(t, `patchbay call dig ms=2500 ${at.join(' ')}`)
      await digging.shows(/half of the hole/)
      await digging.shows(/The hole is dug/)
      t.equal(await digging.exit(), 0)
      const asking = await openTerminal(t, `patchbay call ask ${at.join(' ')}`)
      await asking.shows(/name \(string\): $/)
      asking.type('Ada\r')
      await asking.shows(/Send this to the server\? \[Y\/n\] $/)
      asking.type('y\r')
      await asking.shows(/accept Ada/)
      t.equal(await asking.exit(), 0)
    })
  })
}
