import { fileURLToPath } from 'node:url'
import t from 'tap'
import { PAGE_SIZE, type Server } from '../clients/connections.js'
import { ways } from '../clients/ways.js'
import { sharesOf, startNodes, sumOf, withNodes } from '../support/nodes/three-nodes.js'
import { FIXTURE } from '../support/process.js'
import { until } from '../support/wait.js'

const LEVERS = fileURLToPath(new URL('../clients/levers.js', import.meta.url))

t.test('official clients at three nodes behind nginx', withNodes, async t => {
  t.setTimeout(120_000)
  const three = await startNodes(t, { plugins: [FIXTURE, LEVERS], env: { PATCHBAY_PAGE_SIZE: String(PAGE_SIZE) } })
  const server: Server = {
    url: three.url,
    sessions: async () => {
      await until(async () => await sumOf(three, 'sessions') === 0, 'every node hears that the session is over')
      return 0
    },
    forgotten: async () => await until(async () => await sumOf(three, 'peers') === 0, 'every node forgets the client')
  }
  for (const [name, playThrough] of Object.entries(ways)) await t.test(name, async t => await playThrough(t, server))

  const served = await three.nginx.served()
  t.ok(
    sharesOf(three, served).every(share => share >= 0.25),
    `each node serves a quarter: ${sharesOf(three, served).join(', ')}`
  )
  t.strictSame(served.filter(({ status }) => status === 404 || status >= 500), [], 'no request is lost')
})
