import t, { type Test } from 'tap'
import { display, noDisplay } from '../support/environment/display.js'
import { folder, launch, toolCall, type Json, type Launched } from '../support/process.js'

async function stdio (t: Test, env: Record<string, string>, args: string[] = []): Promise<Launched> {
  const home = await folder(t, {})
  const launched = launch(t, ['--stdio', ...args], {
    env: { HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, ...env }
  })
  launched.send({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2024-11-05',
      clientInfo: { name: 'example-client', version: '1.0.0' },
      capabilities: {}
    }
  })
  t.match(await launched.next(), { id: 0, result: { protocolVersion: '2024-11-05' } })
  launched.send({ method: 'notifications/initialized' })
  return launched
}

t.test('the command, with a real clipboard', { skip: noDisplay }, async t => {
  const { name: DISPLAY } = await display(t)

  t.test('a batch reads before it writes, and is answered in its order', async t => {
    const launched = await stdio(t, { DISPLAY }, ['--log-level', 'silent'])
    launched.send(toolCall(1, 'set_clipboard', { text: 'Previous clipboard content' }))
    t.strictSame(await launched.next(), {
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'text', text: 'Text copied to clipboard' }] }
    })
    const batch = [toolCall(1, 'get_clipboard'), toolCall(2, 'set_clipboard', { text: 'Batch operation result' })]
    launched.write(`${JSON.stringify(batch.map(message => ({ jsonrpc: '2.0', ...message })))}\n`)
    t.strictSame(await launched.next() as unknown, [
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'Previous clipboard content' }] } },
      { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'Text copied to clipboard' }] } }
    ])
    launched.send(toolCall(3, 'get_clipboard'))
    t.match(await launched.next(), { id: 3, result: { content: [{ text: 'Batch operation result' }] } })
    launched.end()
    t.equal((await launched.exit()).code, 0)
  })

  t.test('what is on the clipboard is in no log, whatever goes wrong', async t => {
    const launched = await stdio(t, { DISPLAY }, ['--log-level', 'trace', '--port', '0'])
    const SECRET = 'correct horse battery staple'
    const calls = [
      toolCall(1, 'set_clipboard', { text: SECRET }),
      toolCall(2, 'get_clipboard'),
      toolCall(3, 'set_clipboard', { text: `${SECRET}\0` }),
      toolCall(4, 'set_clipboard', { text: SECRET.repeat(50_000) }),
      toolCall(5, 'set_clipboard', { text: SECRET, more: SECRET }),
      toolCall(6, 'set_clipboard', { other: SECRET })
    ]
    const answers: Json[] = []
    for (const call of calls) {
      launched.send(call)
      answers.push(await launched.next())
    }
    t.match(answers, [
      { result: Object },
      { result: { content: [{ text: SECRET }] } },
      ...Array(4).fill({ error: { code: -32602 } })
    ])
    launched.end()
    const { stderr } = await launched.exit()
    t.match(stderr, /shutting down/)
    t.notMatch(stderr, 'battery')
  })
})

t.test(
  'the command on a machine without a display answers with the error of the clipboard',
  { skip: process.platform !== 'linux' && 'a display is what Linux needs' },
  async t => {
    const launched = await stdio(t, {}, ['--log-level', 'silent'])
    launched.send(toolCall(8, 'get_clipboard'))
    t.match(await launched.next(), {
      id: 8,
      error: {
        code: -32001,
        message: 'Clipboard error',
        data: { details: 'Failed to access system clipboard: No display environment available', hint: String }
      }
    })
  }
)
