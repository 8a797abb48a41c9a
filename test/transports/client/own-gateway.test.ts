import t, { type Test } from 'tap'
import { encodeResult } from '../../../protocol/wire/jsonrpc.js'
import { dialUrl } from '../../../transports/client/dial-url.js'
import { listening } from '../../support/gateway.js'
import { modernMeta } from '../../support/modern.js'
import { LinkRecorder, OPTIONS } from './link-recorder.js'

const WAYS = [
  ['http', '/mcp', 'http'],
  ['any', '/mcp', 'http'],
  ['sse', '/sse', 'sse'],
  ['any', '/sse', 'sse'],
  ['websocket', '/mcp', 'websocket']
] as const

for (const [kind, path, transport] of WAYS) {
  t.test(`${kind} to ${path} of a gateway: calls a tool and answers its question in a session`, async t => {
    const recorder = await connect(t, kind, path)
    t.match(await recorder.initialize(), { message: { result: { capabilities: {} } } })
    t.equal(recorder.link.transport, transport)

    const { id, channel } = recorder.send('tools/call', { name: 'ask_name', arguments: {} })
    const question = await recorder.message('elicitation/create')
    if (question.what !== 'message' || question.message.kind !== 'request') return t.fail('no question')
    t.equal(
      question.on,
      transport === 'http' ? channel : undefined,
      'it comes on the stream of its request, if that has one'
    )
    recorder.link.channel.respond(
      encodeResult(question.message.id, '{"action":"accept","content":{"name":"Ada"}}'),
      200
    )
    t.match(await recorder.outcome(id), { what: 'message', message: { result: { content: [{ text: /Ada/ }] } } })
    await recorder.link.close()
    t.match(await recorder.reports.take('the end', ({ what }) => what === 'closed'), { what: 'closed' })
  })
}

for (const [kind, path] of WAYS.filter(([, path]) => path === '/mcp')) {
  t.test(`${kind} to ${path} of a gateway: calls a tool without a session`, async t => {
    const recorder = await connect(t, kind, path)
    const _meta = modernMeta()
    t.match(await recorder.ask('server/discover', { _meta }), { message: { result: { supportedVersions: Array } } })
    t.match(await recorder.ask('tools/call', { name: 'echo', arguments: { text: 'hällo' }, _meta }), {
      message: { result: { content: [{ text: 'hällo' }] } }
    })
    t.match(
      await recorder.ask('tools/call', { name: 'nö', arguments: {}, _meta }),
      { message: { error: { code: -32602 } } },
      'the name is encoded'
    )
  })
}

async function connect (t: Test, kind: 'any' | 'http' | 'sse' | 'websocket', path: string): Promise<LinkRecorder> {
  const { url } = await listening(t)
  const recorder = await new LinkRecorder().dial(
    dialUrl(kind, { url: (kind === 'websocket' ? url.replace('http', 'ws') : url) + path, headers: {} }, OPTIONS)
  )
  t.teardown(() => recorder.link.close())
  return recorder
}
