import { fileURLToPath } from 'node:url'
import t from 'tap'
import { useSameIds } from '../matrix/colliding-ids.js'
import { changeTools } from '../matrix/one-registry.js'
import { runScript } from '../matrix/run-script.js'
import { remote } from '../matrix/transports.js'
import { sharesOf, startNodes, withNodes } from '../support/nodes/three-nodes.js'
import { FIXTURE } from '../support/process.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'

const MATRIX = fileURLToPath(new URL('../matrix/fixture.js', import.meta.url))

t.test('the matrix at three nodes behind nginx', withNodes, async t => {
  t.setTimeout(240_000)
  const three = await startNodes(t, { plugins: [FIXTURE, MATRIX], env: { PATCHBAY_PAGE_SIZE: '2' } })
  // How requests are routed does not depend on the revision but on its era; the matrix in one process has all of them.
  for (const transport of remote) {
    for (const revision of [newestLegacy, modern]) await runScript(t, three, transport, revision)
  }

  await t.test(
    'clients that use the same ids at the same time each get their own',
    async t => await useSameIds(t, three)
  )

  const served = await three.nginx.served()
  t.ok(
    sharesOf(three, served).every(share => share >= 0.25),
    `each node serves a quarter: ${sharesOf(three, served).join(', ')}`
  )
  t.strictSame(
    served.filter(({ status, session }) => (status === 404 && session !== '') || status >= 500),
    [],
    'no session is lost'
  )

  await t.test('a tool added over one connection reaches clients of every transport and revision', async t => {
    await changeTools(t, three, async () => await Promise.all(three.nodes.map(async node => await node.end('SIGTERM'))))
  })
})
