import { createHook } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { gateway } from '../../support/gateway.js'
import { addUpstream } from './fake-upstream.js'
import { RelayClient } from './relay-client.js'

const ERAS = ['2025-11-25', '2026-07-28']
const CALLS = 200

for (const version of ERAS) {
  for (const era of ERAS) {
    t.test(`relayed calls of ${version} to an upstream of ${era} make no timers of their own`, async t => {
      const app = await gateway(t)
      const { connection } = addUpstream(app, era)
      const client = new RelayClient(app, version)
      await callMany()
      let timers = 0
      const hook = createHook({ init: (_id, type) => { if (type === 'Timeout') timers++ } }).enable()
      t.teardown(() => hook.disable())
      await callMany()
      hook.disable()
      t.ok(timers < CALLS / 10, `${timers} timers for ${CALLS} calls`)

      async function callMany (): Promise<void> {
        const answers = Array.from({ length: CALLS }, () => client.call().answer)
        while (connection.arrived.size < CALLS) await setImmediate()
        for (const { resolve } of connection.arrived.take()) resolve({ content: [] })
        await Promise.all(answers)
      }
    })
  }
}
