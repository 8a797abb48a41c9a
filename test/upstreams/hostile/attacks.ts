import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Json = Record<string, unknown>

/** What an attack can do with its connection. */
export interface Server {
  /** How often each method was received. */
  readonly counts: Record<string, number>
  write: (text: string) => boolean
  send: (message: Json) => void
}

/** One way to misbehave: at the start, in lists, or in calls of the tool `attack`. */
export interface Attack {
  start?: (server: Server) => void
  list?: (cursor: unknown) => Json
  call?: (server: Server, id: unknown, meta: Json) => Json | undefined | Promise<Json | undefined>
}

const tool = (name: unknown, more: Json = {}): Json => ({ name, inputSchema: { type: 'object' }, ...more })
const BASICS = [tool('fine'), tool('attack')]
const DONE = { result: { content: [{ type: 'text', text: 'done' }] } }
const MiB = 1024 * 1024

export const attacks: Record<string, Attack> = {
  'endless pages': {
    list: cursor => {
      const page = Number(cursor ?? 0) + 1
      return { tools: page === 1 ? BASICS : [tool(`tool_${page}`)], nextCursor: String(page) }
    }
  },
  'endless empty pages': {
    list: cursor => ({ tools: cursor === undefined ? BASICS : [], nextCursor: `${String(cursor)}x`.slice(-1_000) })
  },
  'a repeating cursor': { list: cursor => ({ tools: cursor === undefined ? BASICS : [], nextCursor: 'again' }) },
  'a cursor of 10 MiB': { list: () => ({ tools: BASICS, nextCursor: 'x'.repeat(10 * MiB) }) },
  '10,000 tools': {
    list: () => ({
      tools: [
        ...BASICS,
        ...Array.from({ length: 10_000 }, (_, index) => tool(`tool_${index}`, { description: 'x'.repeat(200) }))
      ]
    })
  },
  'entries of every kind': { list: () => ({ tools: [...BASICS, ...oddEntries()] }) },
  'no list at all': { list: () => ({ tools: 'none' }) },
  'a line of 100 MiB': {
    call: async server => {
      await writeMuch(server, 100 * MiB)
      return DONE
    }
  },
  'an answer of 100 MiB': { call: async (server, id) => await hugeAnswer(server, id) },
  'a very deep answer': {
    call: (server, id) => {
      server.write(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"deep":${'['.repeat(200_000)}${']'.repeat(200_000)}}}\n`
      )
      return undefined
    }
  },
  'noise on standard output': {
    start: server => {
      server.write('npm warn deprecated\n\u0000\u0001 {"half":\n[1,\n\n[]\n{}\nnull\n"text"\n'.repeat(2_000))
    }
  },
  'answers to what was never asked': {
    call: server => {
      for (let id = 0; id < 20_000; id++) server.send({ id: id + 1e6, result: {} })
      return DONE
    }
  },
  'answers of every wrong kind': {
    call: server => {
      for (const id of [null, true, {}, [], -1, 1.5, '', '__proto__']) server.send({ id, result: {} })
      return DONE
    }
  },
  'a result that is no object': { call: () => ({ result: 'text' }) },
  'an error that is no error': { call: () => ({ error: 'text' }) },
  'neither result nor error': { call: () => ({}) },
  'two answers': {
    call: (server, id) => {
      server.send({ id, ...DONE })
      return { error: { code: 1, message: 'changed my mind' } }
    }
  },
  'progress after the answer': {
    call: (server, id, { progressToken }) => {
      server.send({ id, ...DONE })
      progress(server, progressToken, 20_000)
      return undefined
    }
  },
  'progress for tokens of others': {
    call: server => {
      progress(server, 'unknown', 20_000)
      progress(server, { a: 1 }, 100)
      return DONE
    }
  },
  'much progress': {
    call: async (server, _id, { progressToken }) => {
      await muchProgress(server, progressToken)
      return DONE
    }
  },
  'a flood of changed lists': {
    call: server => {
      for (let count = 0; count < 5_000; count++) server.send({ method: 'notifications/tools/list_changed' })
      return DONE
    }
  },
  'a flood of notifications': {
    call: server => {
      for (let count = 0; count < 20_000; count++) {
        server.send({ method: 'notifications/message', params: { level: 'emergency', data: 'x'.repeat(100) } })
      }
      return DONE
    }
  },
  'a flood of questions outside calls': {
    start: server => {
      for (let id = 0; id < 5_000; id++) {
        server.send({
          id: `q${id}`,
          method: 'elicitation/create',
          params: { message: 'Password?', requestedSchema: { type: 'object', properties: {} } }
        })
      }
    }
  },
  'a flood of pings': {
    start: server => {
      for (let id = 0; id < 20_000; id++) server.send({ id: `p${id}`, method: 'ping' })
    }
  },
  'cancels requests that are not its own': {
    call: server => {
      for (let requestId = 0; requestId < 1_000; requestId++) {
        server.send({ method: 'notifications/cancelled', params: { requestId } })
      }
      return DONE
    }
  },
  'names of Object.prototype': {
    call: (server, id) => {
      server.write(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"done"}],"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}\n`
      )
      return undefined
    }
  },
  'a flood on standard error': {
    start: () => {
      void writeErrors()
    }
  },
  'never reads': {
    call: () => {
      process.stdin.pause()
      return DONE
    }
  },
  silence: { call: () => undefined },
  'exits in the middle of an answer': {
    call: (server, id) => {
      server.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"res`)
      setImmediate(() => process.exit(3))
      return undefined
    }
  },
  'closes its output': {
    call: () => {
      process.stdout.destroy()
      return undefined
    }
  },
  'forks a process that ignores signals': {
    start: () => {
      spawn('sh', ['-c', 'trap "" TERM INT HUP; while :; do sleep 1; done'], { stdio: 'inherit' })
    },
    call: () => DONE
  },
  'ignores signals': {
    start: () => {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
      setInterval(() => {}, 1_000)
    },
    call: () => DONE
  }
}

function progress (server: Server, progressToken: unknown, times: number): void {
  for (let step = 1; step <= times; step++) {
    server.send({ method: 'notifications/progress', params: { progressToken, progress: step } })
  }
}

async function muchProgress ({ write, counts }: Server, progressToken: unknown): Promise<void> {
  const message = 'x'.repeat(1_024)
  for (let progress = 1; progress <= 100_000; progress++) {
    if (
      !write(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, message } })}\n`
      )
    ) { await once(process.stdout, 'drain') }
  }
  counts.flooded = 1
}

async function writeMuch ({ write }: Server, bytes: number): Promise<void> {
  const chunk = 'x'.repeat(MiB)
  for (let written = 0; written < bytes; written += MiB) if (!write(chunk)) await once(process.stdout, 'drain')
  write('\n')
}

async function hugeAnswer (server: Server, id: unknown): Promise<undefined> {
  server.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`)
  await writeMuch({ ...server, write: text => server.write(text === '\n' ? '"}]}}\n' : text) }, 100 * MiB)
}

async function writeErrors (): Promise<void> {
  const chunk = '\u001b[31mERROR\u001b[0m '.repeat(5_000)
  for (let count = 0; count < 500; count++) if (!process.stderr.write(chunk)) await once(process.stderr, 'drain')
}

function oddEntries (): unknown[] {
  const names = [
    '',
    ' ',
    '..',
    '/',
    '__proto__',
    'constructor',
    'a'.repeat(5_000),
    'é☃𝄞',
    '\u0000',
    '\u001b[2J',
    'a\nb',
    'fine',
    'bad__fine',
    'a.b',
    'a b',
    'a-b',
    1,
    null,
    undefined,
    {},
    []
  ]
  const schemas = [
    null,
    'text',
    1,
    [],
    { type: 'string' },
    { type: 'object', $ref: '#' },
    { type: 'object', $ref: 'https://example.invalid/schema' },
    { $schema: 'urn:unknown', type: 'object' },
    { type: 'object', properties: { a: { pattern: '(a+)+$', type: 'string' } } },
    nested(100)
  ]
  return [
    null,
    1,
    'text',
    [],
    {},
    ...names.map(name => tool(name)),
    ...schemas.map((inputSchema, index) => tool(`schema_${index}`, { inputSchema })),
    tool('odd_annotations', {
      annotations: 'text',
      title: 1,
      description: null,
      outputSchema: 'text',
      icons: 3,
      _meta: 4
    })
  ]
}

function nested (depth: number): Json {
  let schema: Json = { type: 'object' }
  for (let level = 0; level < depth; level++) schema = { type: 'object', properties: { deeper: schema } }
  return schema
}
