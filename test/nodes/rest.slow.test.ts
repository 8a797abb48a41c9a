import t from 'tap'
import { tool } from '../../app.js'
import type { Json } from '../support/recorder.js'
import { onSharedStores, pairOf, type Node } from '../support/environment/nodes.js'
import { ADA, BOB, bearer, listed } from '../support/keys.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { upstreamsReady } from '../support/upstreams.js'
import { openFixture } from '../upstreams/fixture/open.js'

const WHO = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const
const greet = tool({
  name: 'greet',
  description: 'Asks for a name, and greets it',
  run: async (_, call) => {
    const { content } = await call.elicit('who', { message: 'Who?', requestedSchema: WHO })
    return `hello ${String(content?.name)}`
  }
})

async function post ({ url }: Node, path: string, body: object, key: string): Promise<{ status: number, body: Json }> {
  const headers = { ...bearer(key), 'content-type': 'application/json' }
  const response = await fetch(`${url}/api/tools/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: await response.json() as Json }
}

onSharedStores(t, (t, share) => {
  t.test('a question over plain HTTP at one node is answered at the other, by its caller', async t => {
    const servers = [await openFixture(t, 'HTTP', newestLegacy, 'old'), await openFixture(t, 'HTTP', modern, 'young')]
    const mcpServers = Object.fromEntries(servers.map(({ server, entry }) => [server.name, entry]))
    const apiKeys = [listed('ada', ADA), listed('bob', BOB)]
    const plugins = [async ({ mcp }: Node['app']) => { mcp.tools.add(greet) }]
    const nodes = await pairOf(t, { tools: false, rest: true, ...await share(t), apiKeys, plugins, mcpServers })
    for (const { app } of nodes) await upstreamsReady(app, ['old', 'young'])
    for (const [one, two] of [nodes, [...nodes].reverse() as typeof nodes]) {
      for (const name of ['greet', 'old__ask_form', 'young__ask_form']) {
        const asked = await post(one, name, {}, ADA)
        t.equal(asked.status, 409, name)
        const { questions, state } = asked.body as { questions: Json, state?: string }
        const answers = Object.fromEntries(
          Object.keys(questions).map(key => [key, { action: 'accept', content: { name: 'Ada' } }])
        )
        const given = { arguments: {}, ...(state !== undefined && { state }), answers }
        const foreign = await post(two, `${name}/answers`, given, BOB)
        t.notMatch(JSON.stringify(foreign.body), 'Ada', `${name}: not by another caller`)
        t.ok([400, 404].includes(foreign.status), `${name}: ${foreign.status}`)
        const answered = await post(two, `${name}/answers`, given, ADA)
        t.match(answered, { status: 200, body: { content: [{ text: /Ada/ }] } }, name)
      }
    }
  })
})
