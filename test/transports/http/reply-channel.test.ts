import Fastify from 'fastify'
import t from 'tap'
import type { EventStreamPort } from '../../../transports/http/gateway.js'
import { ReplyChannel } from '../../../transports/http/reply-channel.js'
import { SharedTail } from '../../../protocol/wire/result.js'

const NO_STREAMS: EventStreamPort = {
  hasCapacity: false,
  checkCapacity: () => {},
  open: () => {
    throw new Error('there are no streams')
  }
}

for (const [name, respond] of Object.entries({
  'a response': (channel: ReplyChannel) => channel.respond('{}', 200),
  'a response with a shared part': (channel: ReplyChannel) => channel.respondShared('{', new SharedTail('}'))
})) {
  t.test(`${name} is an error when what comes before it fails, and the client does not wait`, async t => {
    const app = Fastify()
    t.teardown(async () => await app.close())
    app.get('/', (_request, reply) => {
      respond(
        new ReplyChannel(NO_STREAMS, reply, {
          beforeResponse: async () => {
            throw new Error('cannot be saved')
          }
        })
      )
    })
    t.equal((await app.inject('/')).statusCode, 500)
  })
}
