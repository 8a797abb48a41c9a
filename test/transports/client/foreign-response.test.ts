import t from 'tap'
import type { Message } from '../../../protocol/wire/jsonrpc.js'
import { LIMITS } from '../../../protocol/wire/limits.js'
import { RequestChannel, type RequestHost } from '../../../transports/client/http/request-channel.js'

t.test('a response on the stream of one request does not answer another', t => {
  const messages: Message[] = []
  const host = {
    limits: { maxMessage: 65_536, limits: LIMITS, maxUnasked: 100 },
    unasked: { add: () => {}, addLine: () => {} },
    events: { message: (message: Message) => { messages.push(message) }, failed: () => {}, closed: () => {} },
    readHead: () => true,
    post: () => undefined,
    release: () => {}
  } as unknown as RequestHost
  const channel = new RequestChannel(host, { id: 1, method: 'tools/call', params: {} })
  channel.onHead(200, { 'content-type': 'text/event-stream' }, '/')
  const write = (id: number) => channel.onData(Buffer.from(`data: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`))
  write(2)
  write(1)
  t.match(messages, [{ kind: 'invalid', error: { message: /stream of another request/ } }, { kind: 'response', id: 1 }])
  channel.drop()
  t.end()
})
