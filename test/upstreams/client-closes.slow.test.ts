import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ClientV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { folder } from '../support/process.js'
import { pidsIn, untilGone } from '../support/processes.js'
import { until } from '../support/wait.js'

const PROGRAM = fileURLToPath(new URL('./programs/server.js', import.meta.url))

interface Connected {
  call: (name: string) => Promise<unknown>
  close: () => Promise<void>
  pid: number
  log: () => string
}

type Launch = (parameters: {
  command: string
  args: string[]
  env: Record<string, string>
  stderr: 'pipe'
}) => Promise<Connected>

const clients: Record<string, Launch> = {
  'SDK v1': async parameters => {
    const [client, transport] = [new ClientV1({ name: 'test', version: '1' }), new StdioV1(parameters)]
    const log = logOf(transport)
    await client.connect(transport)
    return {
      call: async name => await client.callTool({ name }),
      close: async () => await client.close(),
      pid: transport.pid ?? 0,
      log
    }
  },
  'SDK v2': async parameters => {
    const [client, transport] = [new ClientV2({ name: 'test', version: '1' }), new StdioV2(parameters)]
    const log = logOf(transport)
    await client.connect(transport)
    return {
      call: async name => await client.callTool({ name }),
      close: async () => await client.close(),
      pid: transport.pid ?? 0,
      log
    }
  }
}

function logOf ({ stderr }: StdioV1 | StdioV2): () => string {
  let text = ''
  stderr?.on('data', (chunk: Buffer) => { text += String(chunk) })
  return () => text
}

/**
 * A gateway that the client launches, with two servers: one ends with its input, the other ignores its end and signals,
 * and so does what it started.
 */
async function connect (
  t: Test,
  launch: Launch
): Promise<Connected & { pids: number[], calls: () => Promise<string> }> {
  const path = await folder(t, { calls: '' })
  const [starts, calls, config] = [join(path, 'starts'), join(path, 'calls'), join(path, 'config.json')]
  const server = (env: object): object => ({
    command: process.execPath,
    args: [PROGRAM],
    env: { STARTS: starts, CALLS: calls, ...env }
  })
  await writeFile(
    config,
    JSON.stringify({
      stdio: true,
      http: false,
      ephemeral: true,
      mcpServers: { kind: server({}), deaf: server({ DEAF: '1', GRANDCHILD: '1' }) }
    })
  )
  const connected = await launch({
    command: process.execPath,
    args: [COMMAND, '--config', config],
    env: { PATH: process.env['PATH'] ?? '', MCP_LOG_JSON: 'true', PATCHBAY_LIMITS: 'maxEventLoopDelay=60000' },
    stderr: 'pipe'
  })
  t.teardown(async () => await connected.close())
  return {
    ...connected,
    pids: [connected.pid, ...(await pidsIn(starts, 3))],
    calls: async () => await readFile(calls, 'utf8')
  }
}

for (const [name, launch] of Object.entries(clients)) {
  t.test(`${name}: a client that closes the connection is not waited for, and no process is left`, async t => {
    const { call, close, pids, log } = await connect(t, launch)
    await Promise.all([call('kind__echo'), call('deaf__echo')])
    await close()
    await untilGone(pids, 5_000)
    t.match(log(), /shutdown complete/, 'the gateway was not killed')
    t.match(log(), /"reason":"standard input ended".*"shutting down"|"shutting down".*"reason":"standard input ended"/)
  })

  t.test(`${name}: the same while a call hangs in a server that ignores signals`, async t => {
    const { call, close, pids, calls, log } = await connect(t, launch)
    const hanging = call('deaf__hang').catch((error: unknown) => error)
    await until(async () => (await calls()).includes('\n'))
    await close()
    t.ok(await hanging instanceof Error)
    await untilGone(pids, 5_000)
    t.match(log(), /shutdown complete/, 'the gateway was not killed')
  })
}
