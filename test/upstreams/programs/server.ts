import { spawn } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

// A server of the legacy era on standard streams, that can be told to misbehave. Each call is written to the file
// CALLS, each start to the file STARTS.

interface Request {
  id?: number
  method: string
  params?: { name?: string, protocolVersion?: string, arguments?: { key?: string } }
}

const { CALLS, STARTS, GRANDCHILD, DEAF, SILENT, HOLD, KEY } = process.env
const TOOLS = ['echo', 'later', 'pid', 'hang', 'exit', 'half', 'crash'].map(name => ({
  name,
  inputSchema: { type: 'object' }
}))

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
const write = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const tools: Record<string, (id: number, key: string) => void> = {
  echo: (id, key) => { write({ id, result: text(key) }) },
  later: (id, key) => { setTimeout(() => write({ id, result: text(key) }), 30) },
  pid: id => { write({ id, result: text(String(process.pid)) }) },
  hang: () => {},
  exit: () => process.exit(7),
  half: () => { process.stdout.write('{"jsonrpc":"2.0","id":', () => process.exit(7)) },
  crash: () => { process.kill(process.pid, 'SIGKILL') }
}

const methods: Record<string, (id: number, params: NonNullable<Request['params']>) => void> = {
  initialize: (id, { protocolVersion }) => {
    write({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'child', version: '1' } } })
  },
  ping: id => {
    write({ id, result: {} })
  },
  'tools/list': id => {
    write({ id, result: { tools: TOOLS } })
  },
  'tools/call': (id, { name = '', arguments: { key = '' } = {} }) => {
    if (CALLS !== undefined) appendFileSync(CALLS, `${key}\n`)
    tools[name]?.(id, key)
  }
}

if (STARTS !== undefined) appendFileSync(STARTS, `${process.pid}\n`)
if (GRANDCHILD !== undefined) {
  const { pid } = spawn('sleep', ['1000'], { stdio: 'inherit' })
  if (STARTS !== undefined) appendFileSync(STARTS, `${pid}\n`)
}
// Neither the end of its input nor a signal ends it.
if (DEAF !== undefined) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  setInterval(() => {}, 1_000)
}
process.stderr.write(`the server has started\n${KEY === undefined ? '' : `the key is ${KEY}`}\n`)

// It reads nothing until the file is there.
if (HOLD !== undefined) while (!existsSync(HOLD)) await sleep(5)

createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params = {} } = JSON.parse(line) as Request
  if (id === undefined || SILENT !== undefined) return
  const answer = methods[method]
  if (answer === undefined) write({ id, error: { code: -32601, message: 'Method not found' } })
  else answer(id, params)
})
