import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { folder, launch, type Launched } from '../support/process.js'
import { isRunning, pidsIn, untilGone } from '../support/processes.js'

/** Ends with its standard input. */
const READER = 'echo $$ >>"$PIDS"; cat >/dev/null'
/** Starts another process; both ignore their input and all signals that can be ignored. */
const WRAPPER =
  'trap "" TERM INT HUP; sh -c \'echo $$ >>"$PIDS"; while :; do sleep 1; done\' & echo $$ >>"$PIDS"; while :; do sleep 1; done'
const PLUGIN = 'export default async () => { process.on("SIGUSR2", () => { throw new Error("nothing catches this") }) }'

async function open (t: Test, servers: Record<string, string>): Promise<{ gateway: Launched, pids: number[] }> {
  const path = await folder(t, { 'plugin.mjs': PLUGIN })
  const file = join(path, 'pids')
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([alias, script]) => [
      alias,
      { command: 'sh', args: ['-c', script], env: { PIDS: file } }
    ])
  )
  const config = join(path, 'config.json')
  await writeFile(
    config,
    JSON.stringify({
      stdio: true,
      http: false,
      ephemeral: true,
      limits: { upstreamStopTimeout: 60_000, upstreamQuickStopTimeout: 200 },
      plugins: ['./plugin.mjs'],
      mcpServers
    })
  )
  const gateway = launch(t, ['--config', config])
  await gateway.up()
  const pids = await pidsIn(file, Object.values(servers).includes(WRAPPER) ? 3 : 1)
  t.ok(pids.every(isRunning))
  return { gateway, pids }
}

const ends: Record<string, (gateway: Launched) => void> = {
  SIGTERM: gateway => gateway.kill('SIGTERM'),
  SIGINT: gateway => gateway.kill('SIGINT'),
  'the end of its standard input': gateway => gateway.end(),
  'an error that nothing caught': gateway => gateway.kill('SIGUSR2'),
  'two signals': gateway => {
    gateway.kill('SIGTERM')
    gateway.kill('SIGINT')
  }
}

for (const [name, end] of Object.entries(ends)) {
  t.test(`no process of a server is left when the gateway is ended by ${name}`, async t => {
    const { gateway, pids } = await open(t, { reader: READER, wrapper: WRAPPER })
    end(gateway)
    await gateway.exit()
    await untilGone(pids, 5_000)
  })
}

t.test('a server that reads its standard input ends when the gateway is killed', async t => {
  const { gateway, pids } = await open(t, { reader: READER })
  gateway.kill('SIGKILL')
  await gateway.exit()
  await untilGone(pids)
})
