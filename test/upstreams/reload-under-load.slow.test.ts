import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { folder, initialize, launch, toolCall, type Json } from '../support/process.js'
import { isRunning, pidsIn, untilGone } from '../support/processes.js'
import { until } from '../support/wait.js'

const PROGRAM = fileURLToPath(new URL('./programs/server.js', import.meta.url))
const RELOADS = Number(process.env['RELOADS'] ?? 20)
const IN_FLIGHT = 64

t.test('reloads under load lose no call of a server that did not change, let those of a changed one finish, and leave no process', async t => {
  const place = await folder(t, {})
  const [config, starts] = [join(place, 'config.json'), join(place, 'starts')]
  const server = (env: object): object => ({
    command: process.execPath,
    args: [PROGRAM],
    env: { STARTS: starts, ...env }
  })
  const write = async (turn: number): Promise<void> =>
    await writeFile(
      config,
      JSON.stringify({
        stdio: true,
        http: false,
        ephemeral: true,
        mcpServers: { same: server({}), changing: server({ TURN: String(turn) }) }
      })
    )
  await write(0)
  const gateway = await launch(t, ['--config', config], {
    env: { PATCHBAY_RATE: '1000000', PATCHBAY_BURST: '1000000' }
  }).up()
  gateway.send(initialize, { method: 'notifications/initialized' })
  const answers: Json[] = []
  let sent = 0
  let isOver = false
  const send = (): void => {
    gateway.send(toolCall(++sent, sent % 2 === 0 ? 'same__later' : 'changing__later', { key: String(sent) }))
  }
  const reading = (async () => {
    for (;;) {
      if (isOver && answers.length === sent) break
      const message = await gateway.next()
      if (typeof message['id'] !== 'number') continue
      answers.push(message)
      if (!isOver) send()
    }
  })()
  for (let call = 0; call < IN_FLIGHT; call++) send()
  await until(() => answers.length >= IN_FLIGHT)
  const [first = 0] = await pidsIn(starts, 2)
  for (let turn = 1; turn <= RELOADS; turn++) {
    await write(turn)
    gateway.kill('SIGHUP')
    await until(() => gateway.stderr.split('options reloaded').length > turn)
    const before = answers.length
    await until(() => answers.length >= before + IN_FLIGHT)
  }
  isOver = true
  await reading

  t.equal(new Set(answers.map(({ id }) => id)).size, sent, 'each call was answered once')
  const isLost = ({ id, result }: Json): boolean =>
    (result as { content?: Array<{ text: string }> } | undefined)?.content?.[0]?.text !== String(id)
  t.strictSame(
    answers.filter(({ id }) => Number(id) % 2 === 0).filter(isLost),
    [],
    'those of the unchanged server by it'
  )
  const refused = answers.filter(({ id }) => Number(id) % 2 === 1).filter(isLost)
  t.strictSame(refused.slice(0, 3), [], `those of the changed server, too; ${refused.length} were not`)
  const pids = await pidsIn(starts, 2 + RELOADS)
  await until(() => pids.filter(isRunning).length === 2, 'the end of all but two servers')
  t.equal(pids.length, 2 + RELOADS, 'one start for each change')
  t.ok(isRunning(first) || isRunning(pids[1] ?? 0), 'the unchanged server runs on')
  gateway.end()
  await gateway.exit()
  await untilGone(pids, 5_000)
})
