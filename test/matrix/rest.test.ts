import t from 'tap'
import sharedFixture, { listening } from '../support/gateway.js'
import type { Json } from '../support/specification/message.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { openCell } from './cell.js'
import fixture from './fixture.js'
import { local } from './transports.js'

interface Result { isError?: boolean, structuredContent?: Json, content?: Json[] }

const CALLS: Array<[name: string, args: Json]> = [
  ['echo', { text: 'héllo "1" 😀' }],
  ['decorated', {}],
  ['decorated_blocks', {}],
  ['every_block', {}],
  ['slow', { steps: 2, delay: 1 }],
  ['refuse', {}],
  ['echo', { text: 3 }]
]

t.test('a tool gives the same value as plain HTTP as over every transport', async t => {
  const place = await listening(t, { plugins: [sharedFixture, fixture], rest: true })
  for (const transport of local) {
    for (const revision of [newestLegacy, modern]) {
      const { client } = await openCell(t, place, transport, revision)
      for (const [name, args] of CALLS) {
        const { result = {} } = await client.call(name, args)
        const { isError, structuredContent, content = [] } = result as Result
        const headers = { 'content-type': 'application/json' }
        const reply = await fetch(`${place.url}/api/tools/${name}`, { method: 'POST', headers, body: JSON.stringify(args) })
        const value = await reply.json() as Json
        const where = `${name} over ${transport.name} in ${revision.version}`
        const told = String(content[0]?.text).replace('Invalid params: ', '')
        if (isError === true) t.strictSame([reply.status >= 400, value.detail], [true, told], where)
        else t.strictSame(value, structuredContent ?? { content }, where)
      }
    }
  }
})
