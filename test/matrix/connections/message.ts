import { Agent } from 'node:http'
import { oldest, type Revision } from '../../support/specification/revisions.js'
import { suffixOf, type Place, type Receive, type Connection } from '../connection.js'
import { exchange, readBody } from '../../support/exchange.js'

/** Plain `POST /message`, one exchange for each message. */
export async function openMessage (place: Place, receive: Receive): Promise<Connection> {
  const agent = new Agent({ keepAlive: true })
  return {
    send: ({ text, revision }) => {
      const sent = exchange(
        agent,
        `${place.url}/message${suffixOf(place)}`,
        { method: 'POST', headers: headersOf(revision), body: text },
        reply => {
          readBody(reply, body => {
            if (body !== '') receive(JSON.parse(body), reply.statusCode)
          })
        }
      )
      return { drop: () => { sent.destroy() } }
    },
    close: async () => agent.destroy()
  }
}

// The first revision is the default here, and a stateless request names its own revision.
function headersOf ({ modern, version }: Revision): Record<string, string> {
  return modern || version === oldest.version ? {} : { 'mcp-protocol-version': version }
}
