import { Agent } from 'node:http'
import { suffixOf, type Place, type Receive, type Connection } from '../connection.js'
import { inTime } from '../../support/wait.js'
import { exchange, readBody } from '../../support/exchange.js'
import { readEvents } from '../../support/event-reader.js'

/** HTTP+SSE: everything comes over `GET /sse`, everything goes to the address its first event names. */
export async function openSse (place: Place, receive: Receive): Promise<Connection> {
  const agent = new Agent({ keepAlive: true })
  const { url } = place
  let close = () => {}
  const endpoint = await inTime(new Promise<string>(resolve => {
    const stream = exchange(agent, `${url}/sse${suffixOf(place)}`, { method: 'GET', headers: { accept: 'text/event-stream' } }, reply => {
      readEvents(reply, ({ event, data = '' }) => {
        if (event === 'endpoint') resolve(new URL(data, url).href)
        else if (event === 'message') receive(JSON.parse(data))
      })
    })
    close = () => { stream.destroy(); agent.destroy() }
  }), 'the endpoint event')
  return {
    send: ({ text }) => {
      exchange(agent, endpoint, { method: 'POST', body: text }, reply => {
        // Only what could not be read is answered here.
        readBody(reply, body => { if (reply.statusCode !== 202) receive(JSON.parse(body), reply.statusCode) })
      })
      return { drop: () => { throw new Error('a message of HTTP+SSE cannot be dropped') } }
    },
    close: async () => close()
  }
}
