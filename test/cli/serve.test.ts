import t from 'tap'
import { FIXTURE, initialize, launch, toolCall, type Json } from '../support/process.js'

const QUIET = ['--ephemeral', '--log-level', 'silent', '--plugin', FIXTURE]

async function post (url: string, message: object): Promise<Json> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', ...message })
  })
  return await response.json() as Json
}

t.test('stdio and HTTP are served at once, from one registry', async t => {
  const launched = launch(t, ['--stdio', '--port', '0', ...QUIET])
  const url = await launched.url()
  launched.send(initialize, toolCall(1, 'echo', { text: 'stdio' }))
  await launched.next()
  t.match(await launched.next(), { id: 1, result: { structuredContent: { text: 'stdio' } } })
  t.match(await post(url, toolCall(1, 'echo', { text: 'http' })), { id: 1, result: { content: [{ text: 'http' }] } })
})
