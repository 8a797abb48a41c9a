import t, { type Test } from 'tap'
import { ConnectionLost, type Client, type Era } from '../../../console/client/contract.js'
import type { Closing } from '../../../console/client/socket.js'
import { client, delayAfter, era, Reconnector, status, type Status } from '../../../console/state/connection.js'
import { until } from '../../support/wait.js'

class LoginNeeded extends Error {}

/** A gateway whose connections end and fail as the test says. */
function fake (t: Test) {
  const made: Array<{ era: Era, end: (closing: Closing) => void, closed: boolean }> = []
  let refuse: Error | undefined
  const reconnector = new Reconnector({
    needsLogin: error => error instanceof LoginNeeded,
    random: () => 0,
    open: async (era, onClosed) => {
      if (refuse !== undefined) throw refuse
      const own = { era, end: onClosed, closed: false }
      made.push(own)
      return { client: { era } as Client, close: () => { own.closed = true } }
    }
  })
  t.teardown(() => { reconnector.stop(); era.value = 'modern' })
  return { reconnector, made, refuseWith: (error: Error | undefined) => { refuse = error } }
}

t.test('connects, says since when, and gives the client', async t => {
  const { reconnector } = fake(t)
  const before = Date.now()
  await reconnector.connect()
  t.match(status.value, { state: 'connected' })
  t.ok(status.value.since >= before)
  t.equal(client.value?.era, 'modern')
})

t.test('a connection that ends is opened again, and the reason is told in words', async t => {
  const { reconnector, made } = fake(t)
  await reconnector.connect()
  made[0]?.end({ code: 1006, reason: '' })
  t.match(status.value, { state: 'waiting', why: /cannot be reached.*1006/ })
  t.equal(client.value, undefined)
  await until(() => made.length === 2 && status.value.state === 'connected', 'the second connection')
})

t.test('a gateway that stays away is tried again, each time later, since the first failure', async t => {
  const { reconnector, refuseWith } = fake(t)
  refuseWith(new ConnectionLost('gone'))
  await reconnector.connect()
  const { since } = status.value
  const seen: Status[] = []
  t.teardown(status.subscribe(value => { seen.push(value) }))
  await until(() => seen.some(value => value.state === 'connecting' && value.attempt === 3), 'the third attempt')
  t.ok(seen.every(value => value.since === since))
  t.match(seen[0], { state: 'waiting', why: 'gone' })
  refuseWith(undefined)
  await until(() => status.value.state === 'connected', 'the connection')
})

t.test('delays double up to a limit, and are spread', async t => {
  t.strictSame([0, 1, 2, 3].map(failures => delayAfter(failures, () => 0.5)), [250, 500, 1000, 2000])
  t.equal(delayAfter(50, () => 0.5), 15_000)
  t.not(delayAfter(3, () => 0), delayAfter(3, () => 1))
})

t.test('a refusal that only a login mends is not tried again', async t => {
  const { reconnector, refuseWith, made } = fake(t)
  refuseWith(new LoginNeeded())
  await reconnector.connect()
  t.equal(status.value.state, 'login')
  refuseWith(undefined)
  await reconnector.connect()
  t.equal(made.length, 1)
  t.equal(status.value.state, 'connected')
})

t.test('an expired credential is noticed at once, without a delay', async t => {
  const { reconnector, refuseWith, made } = fake(t)
  await reconnector.connect()
  refuseWith(new LoginNeeded())
  made[0]?.end({ code: 4401, reason: 'credential expired' })
  await until(() => status.value.state === 'login', 'the login')
})

t.test('another era closes the connection and opens one, and the end of the former does nothing', async t => {
  const { reconnector, made } = fake(t)
  await reconnector.connect()
  await reconnector.connect('legacy')
  t.strictSame(
    made.map(({ era, closed }) => ({ era, closed })),
    [
      { era: 'modern', closed: true },
      { era: 'legacy', closed: false }
    ]
  )
  made[0]?.end({ code: 1000, reason: '' })
  t.equal(status.value.state, 'connected')
})
