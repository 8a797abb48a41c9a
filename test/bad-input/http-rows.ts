import type { Test } from 'tap'
import { exchange, lastExchange, type Bytes, type Reply } from '../support/http-client.js'
import { expectUnharmed, type Server } from '../support/server.js'
import { summariseReply } from '../support/summary.js'

/** One row about HTTP itself: the bytes of a whole request, and what comes back. */
export interface HttpRow {
  row: string
  title: string
  send: (port: number) => Bytes[]
  /** The status alone, or the whole reply in the words of summary.ts. */
  expect: number | string | RegExp
  /** Set where the server has to hang up. */
  closed?: true
  headers?: Record<string, string>
}

/** Sends every request on a connection of its own; afterwards the server must be as before. */
export async function tryHttpRows (t: Test, server: Server, rows: HttpRow[]): Promise<void> {
  for (const { row, title, send, expect, closed, headers = {} } of rows) {
    await t.test(`${row}: ${title}`, async t => {
      const reply = await (closed === true ? lastExchange : exchange)(server.port, ...send(server.port))
      if (expect instanceof RegExp) t.match(summariseReply(reply), expect)
      else t.equal(typeof expect === 'number' ? reply.status : summariseReply(reply), expect, `gives ${expect}`)
      for (const [name, value] of Object.entries(headers)) t.equal(reply.headers.get(name), value, name)
      noLeaks(t, reply)
      await expectUnharmed(t, server)
    })
  }
}

/** No reply shows paths or stack traces. */
function noLeaks (t: Test, { body }: Reply): void {
  t.notMatch(body, /node_modules|\.[jt]s:\d|Maximum call stack/)
}
