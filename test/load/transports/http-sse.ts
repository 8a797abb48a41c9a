import { HttpConnection } from '../../support/http-connection.js'
import { closed, encode, hello, initialized, type Address, type Transport } from './transport.js'

/** HTTP+SSE: calls are posted, answers come on one stream. */
export const httpSse: Transport<Address> = {
  depth: 8,
  open: async ({ port }, ledger) => {
    const stream = new HttpConnection(port)
    const posts = new HttpConnection(port)
    let welcome = () => {}
    const path = await new Promise<string>((resolve, reject) =>
      stream.request(
        { method: 'GET', path: '/sse', headers: { Accept: 'text/event-stream' } },
        {
          message: text => {
            if (text.startsWith('/')) return resolve(text)
            welcome()
            ledger.receive(text)
          },
          end: status => reject(new Error(`GET /sse was answered with ${status}`)),
          cut: () => reject(new Error('GET /sse was cut'))
        }
      )
    )
    const initializeAnswered = new Promise<void>(resolve => { welcome = resolve })
    await posts.exchange({ method: 'POST', path, body: hello('2024-11-05') })
    await Promise.race([initializeAnswered, closed(stream.socket)])
    await posts.exchange({ method: 'POST', path, body: initialized })
    return {
      ledger,
      over: closed(stream.socket, posts.socket),
      send: (id, { method, params }) => posts.request({ method: 'POST', path, body: encode(id, method, params) }, {
        message: () => {},
        end: status => { if (status >= 400) ledger.refuse(id) },
        cut: () => {}
      }),
      cut: () => { for (const { socket } of [stream, posts]) socket.resetAndDestroy() },
      close: async () => { for (const { socket } of [stream, posts]) socket.destroy() }
    }
  }
}
