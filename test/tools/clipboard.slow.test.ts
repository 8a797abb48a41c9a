import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { build, createClient, type Client } from '../../app.js'
import { callTool } from '../support/modern.js'
import { listening } from '../support/gateway.js'
import { bestTime } from '../support/timing.js'
import { until, within } from '../support/wait.js'
import { display, environment, noDisplay } from '../support/environment/display.js'

type Json = Record<string, unknown>

const STRICT = ['2024-11-05', '2025-03-26', '2025-06-18']
const NO_DISPLAY = 'Failed to access system clipboard: No display environment available'
const onLinux = { skip: process.platform !== 'linux' && 'a display is what Linux needs' }

const get = { name: 'get_clipboard', arguments: {} }
const set = (text: unknown) => ({ name: 'set_clipboard', arguments: { text } })
const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

async function connected (t: Test, protocolVersion = '2024-11-05'): Promise<Client> {
  const app = await build({ http: false })
  t.teardown(async () => await app.close())
  return await createClient(app, { protocolVersion })
}

t.test('both tools are listed as clients of the first revision know them', async t => {
  const { request } = await connected(t)
  const { tools } = await request('tools/list') as { tools: Json[] }
  t.strictSame(
    tools.filter(({ name }) => String(name).endsWith('_clipboard')),
    [
      {
        name: 'get_clipboard',
        description: 'Get the current text content from the system clipboard',
        inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false }
      },
      {
        name: 'set_clipboard',
        description: 'Set the system clipboard to the provided text content',
        inputSchema: {
          type: 'object',
          properties: {
            text: { type: 'string', description: 'The text content to copy to the clipboard', maxLength: 1048576 }
          },
          required: ['text'],
          additionalProperties: false
        }
      }
    ]
  )
})

const REQUIRED = "set_clipboard requires 'text' parameter"
const LENGTH = 'Text content exceeds maximum size of 1048576 characters'
const WRONG: Array<[what: string, params: Json, details: string | RegExp]> = [
  ['no text', { name: 'set_clipboard', arguments: {} }, REQUIRED],
  ['no arguments', { name: 'set_clipboard' }, REQUIRED],
  ['text under another name', { name: 'set_clipboard', arguments: { content: 'text' } }, REQUIRED],
  ['a number', set(5), REQUIRED],
  ['null', set(null), REQUIRED],
  ['one character too many', set('x'.repeat(1_048_577)), LENGTH],
  ['one emoji too many', set('😀'.repeat(1_048_577)), LENGTH],
  [
    'something besides the text',
    { name: 'set_clipboard', arguments: { text: 'text', format: 'html' } },
    /^arguments of set_clipboard: .*"format"/
  ],
  ['a NUL', set('a\0b'), /NUL/],
  ['half an emoji', set('a\uD83D'), /half of a surrogate pair/],
  ['the other half', set('\uDE00b'), /half of a surrogate pair/],
  ['arguments where there are none', { name: 'get_clipboard', arguments: { format: 'html' } }, /"format"/]
]

t.test('wrong arguments are refused before a clipboard is looked for', async t => {
  t.teardown(environment({}))
  for (const version of STRICT) {
    const { request } = await connected(t, version)
    for (const [what, params, details] of WRONG) {
      await t.rejects(request('tools/call', params), { code: -32602, data: { details } }, `${what}, ${version}`)
    }
  }
  const { request } = await connected(t, '2025-11-25')
  for (const [what, params, details] of WRONG) {
    const {
      isError,
      content: [block]
    } = (await request('tools/call', params)) as { isError: boolean, content: [{ text: string }] }
    t.equal(isError, true, what)
    t.match(block.text.replace('Invalid params: ', ''), details, what)
  }
})

t.test('a machine without a display', onLinux, async t => {
  t.teardown(environment({}))
  const calls = [get, set('text')]

  for (const version of STRICT) {
    t.test(`is an error with details and a hint in ${version}`, async t => {
      const { request } = await connected(t, version)
      for (const params of calls) {
        await t.rejects(request('tools/call', params), {
          code: -32001,
          message: 'Clipboard error',
          data: { details: NO_DISPLAY, hint: /Xvfb.*DISPLAY/ }
        })
      }
    })
  }

  t.test('is an error result with all of the text in 2025-11-25', async t => {
    const { request } = await connected(t, '2025-11-25')
    for (const params of calls) {
      t.match(await request('tools/call', params), {
        isError: true,
        content: [{ text: /^Clipboard error: Failed .*: No display environment available\. .*Xvfb/ }]
      })
    }
  })

  t.test('and in 2026-07-28', async t => {
    const app = await build()
    t.teardown(async () => await app.close())
    for (const { name, arguments: args } of calls) {
      const { result } = await callTool(app, name, args)
      t.match(result, {
        isError: true,
        content: [{ text: /^Clipboard error: Failed .*: No display environment available\. .*Xvfb/ }]
      })
    }
  })
})

t.test('a real clipboard', { skip: noDisplay }, async t => {
  const screen = await display(t)
  const { url } = await listening(t)

  const TRANSPORTS = {
    'in the same process': async (t: Test) => {
      const { request } = await connected(t)
      return async (params: Json) => await request('tools/call', params)
    },
    'over HTTP': async () => async (params: Json) => await post(url, params),
    'over WebSocket': async (t: Test) => await websocket(t, url)
  }
  for (const [title, transport] of Object.entries(TRANSPORTS)) {
    t.test(`${title}: what is set is what is got`, async t => {
      const call = await transport(t)
      for (const text of [`👋 ${title}\r\n`, '', 'x'.repeat(1_048_576)]) {
        t.strictSame(await call(set(text)), textResult('Text copied to clipboard'))
        const got = await call(get) as ReturnType<typeof textResult>
        t.ok(got.content[0]?.text === text)
        t.equal(got.content.length, 1)
      }
    })
  }

  t.test('newer clients get it as data, too', async t => {
    const { request } = await connected(t, '2025-11-25')
    t.strictSame(await request('tools/call', set('a😀')), {
      ...textResult('Text copied to clipboard'),
      structuredContent: { copied: 2 },
      isError: false
    })
    t.strictSame(await request('tools/call', get), {
      ...textResult('a😀'),
      structuredContent: { text: 'a😀' },
      isError: false
    })
  })

  t.test('of 50 calls at once the last one stays', async t => {
    const { request } = await connected(t)
    await Promise.all(Array.from({ length: 50 }, async (_, index) => await request('tools/call', set(`text ${index}`))))
    t.strictSame(await request('tools/call', get), textResult('text 49'))
  })

  t.test('an owner that does not answer is given up after 5 seconds; a client need not wait that long', async t => {
    const { request } = await connected(t)
    await request('tools/call', set('stuck'))
    await request('tools/call', get)
    await until(() => screen.programs().length === 1)
    const owner = screen.freeze()

    const cancel = new AbortController()
    const cancelled = request('tools/call', get, cancel.signal)
    await until(() => screen.programs().length === 2)
    cancel.abort()
    await t.rejects(cancelled, { message: 'the request was cancelled' })
    await until(() => screen.programs().length === 1)

    const took = await bestTime(6_000, async () => {
      const start = performance.now()
      await t.rejects(request('tools/call', get), {
        code: -32001,
        data: { details: 'Failed to access system clipboard: No answer within 5000 ms', hint: /does not answer/ }
      })
      return performance.now() - start
    }, 3)
    t.ok(took > 4_900 && took < 6_000, `it took ${took} ms`)
    await until(() => screen.programs().length === 1)

    await request('tools/call', set('works again'))
    process.kill(owner, 'SIGKILL')
    t.strictSame(await request('tools/call', get), textResult('works again'))
  })

  t.test('a display that appears later is used', async t => {
    const hide = environment({})
    const { request } = await connected(t)
    await t.rejects(request('tools/call', get), { code: -32001 })
    hide()
    t.strictSame(await request('tools/call', set('here')), textResult('Text copied to clipboard'))
  })
})

async function post (url: string, params: Json): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body
  })
  return (await response.json() as Json).result
}

async function websocket (t: Test, url: string): Promise<(params: Json) => Promise<unknown>> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const ask = async (method: string, params: Json) => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: method, method, params }))
    const [data] = await within(60_000, async signal => await once(socket, 'message', { signal })) as [Buffer]
    return (JSON.parse(String(data)) as Json).result
  }
  await ask('initialize', { protocolVersion: '2024-11-05' })
  return async params => await ask('tools/call', params)
}
