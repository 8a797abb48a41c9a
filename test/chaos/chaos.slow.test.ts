import t from 'tap'
import { busy } from './busy.js'
import { cuts } from './cuts.js'
import { cleanUp, settings } from './gateway.js'
import { lossy } from './lossy.js'
import type { Scenario } from '../support/report.js'
import { silence } from './silence.js'
import { storm } from './storm.js'
import { upstreams } from './upstreams.js'
import { vanish } from './vanish.js'

/** The quick ones of `npm run chaos`, with small numbers. */
const QUICK: Record<string, [scenario: Scenario, options: Record<string, number>]> = {
  'clients that vanish at any point leave nothing behind, and their calls end as they should': [
    vanish,
    { times: 1, work: 300 }
  ],
  'a stream that is cut again and again loses nothing, doubles nothing and keeps its order': [
    cuts,
    { events: 1_000, cuts: 20 }
  ],
  'an event loop that is blocked for several heartbeats cuts no client off': [
    busy,
    { clients: 10, block: 2_500, heartbeat: 1_000, times: 1 }
  ],
  'everybody who comes back at once after a kill is let in, with the session they had': [storm, { clients: 60 }],
  'official clients whose connections are cut on their side only reconnect and miss nothing': [
    lossy,
    { cuts: 2, clients: 1 }
  ],
  'servers behind the gateway that are killed under load lose no call, and nothing of them is left': [
    upstreams,
    { kills: 10, callers: 4 }
  ],
  'signs of life keep silent streams through a proxy that cuts what is silent': [
    silence,
    { idle: 600, signs: 150, ms: 1_200 }
  ]
}

t.after(cleanUp)

t.test('the gateway stands what happens around it', async t => {
  t.jobs = 3
  // On a busy machine the event loop is late, and clients would be refused for that.
  settings['PATCHBAY_LIMITS'] = 'maxEventLoopDelay=60000'
  for (const [name, [{ defaults, run }, options]] of Object.entries(QUICK)) {
    t.test(name, { buffered: true }, async t => {
      const report = await run({ ...defaults, ...options })
      t.comment(String(report))
      t.strictSame(report.broken, [])
      t.ok(report.rows.length > 0)
    })
  }
})
