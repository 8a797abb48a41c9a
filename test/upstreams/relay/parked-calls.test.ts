import t from 'tap'
import { ParkedCalls, type ParkedCall, type ParkingLimits } from '../../../upstreams/relay/parking/parked-calls.js'
import { until } from '../../support/wait.js'

const PLENTY: ParkingLimits = {
  parkedCallLifetime: 60_000,
  maxParkedCalls: 100_000,
  maxParkedCallsPerUpstream: 100_000,
  maxParkedCallsPerCaller: 100_000,
  maxParkedBytes: 1_000_000
}

interface Parked extends ParkedCall { readonly ended: string[] }

function parkedCall (upstream = 'files', principal: string | undefined = undefined): Parked {
  const ended: string[] = []
  return { upstream, principal, ended, end: reason => { ended.push(reason) } }
}

t.test('a parked call is found by its id until the id is taken', async t => {
  const calls = new ParkedCalls(PLENTY)
  const call = parkedCall()
  t.equal(calls.add(call), undefined)
  const parkedId = calls.park(call)
  t.equal(calls.get(parkedId), call)
  calls.take(parkedId)
  t.equal(calls.get(parkedId), undefined)
  t.equal(calls.size, 1, 'it counts until it is over')
  calls.remove(call)
  t.equal(calls.size, 0)
  t.strictSame(call.ended, [])
})

t.test('each park has another id, and so has each process', async t => {
  const calls = new ParkedCalls(PLENTY)
  const call = parkedCall()
  t.not(calls.park(call), calls.park(call))
  t.not(calls.nonce, new ParkedCalls(PLENTY).nonce)
  calls.end('the test is over')
})

t.test('a call is ended when its time is up, and the others are not', async t => {
  const calls = new ParkedCalls({ ...PLENTY, parkedCallLifetime: 20 })
  const [first, second] = [parkedCall(), parkedCall()]
  for (const call of [first, second]) calls.add(call)
  const parkedId = calls.park(first)
  calls.take(calls.park(second))
  await until(() => first.ended.length > 0)
  t.strictSame(first.ended, ['the client did not answer in time'])
  t.equal(calls.get(parkedId), undefined)
  t.equal(calls.size, 1)
  t.strictSame(second.ended, [])
})

const CALLERS = {
  'in all': { maxParkedCalls: 2 },
  'of one upstream': { maxParkedCallsPerUpstream: 2 },
  'of one caller': { maxParkedCallsPerCaller: 2 }
}

for (const [name, limit] of Object.entries(CALLERS)) {
  t.test(`no more calls are parked than the limit ${name} allows`, async t => {
    const calls = new ParkedCalls({ ...PLENTY, ...limit })
    const [first, second, third] = [parkedCall('files', 'ada'), parkedCall('files', 'ada'), parkedCall('files', 'ada')]
    t.equal(calls.add(first), undefined)
    t.equal(calls.add(second), undefined)
    t.equal(calls.add(second), undefined, 'a call that asks again counts once')
    t.match(calls.add(third), { code: -32603, message: new RegExp(Object.keys(limit).join()), data: { max: 2 } })
    t.equal(calls.add(parkedCall('mail', 'ben')) === undefined, name !== 'in all', 'others')
    calls.remove(first)
    t.equal(calls.add(third), undefined, 'as soon as one is over')
  })
}

t.test('the calls of one upstream are ended together', async t => {
  const calls = new ParkedCalls(PLENTY)
  const [files, mail] = [parkedCall('files'), parkedCall('mail')]
  for (const call of [files, mail]) {
    calls.add(call)
    calls.park(call)
  }
  calls.end('it was removed', 'files')
  t.strictSame([files.ended, mail.ended], [['it was removed'], []])
  t.equal(calls.size, 1)
  calls.end('shutdown')
  t.strictSame(mail.ended, ['shutdown'])
  t.equal(calls.size, 0)
})

t.test('no more bytes are kept for the calls of one upstream than the limit allows, until they are over', async t => {
  const calls = new ParkedCalls({ ...PLENTY, maxParkedBytes: 100 })
  const [first, second, other] = [parkedCall(), parkedCall(), parkedCall('mail')]
  t.equal(calls.keep(first, 1), false, 'it is not counted yet')
  for (const call of [first, second, other]) calls.add(call)
  t.equal(calls.keep(first, 60), true)
  t.equal(calls.keep(second, 41), false)
  t.equal(calls.keep(second, 40), true)
  t.equal(calls.keep(other, 100), true, 'another upstream has its own')
  t.equal(calls.keep(first, 61), false)
  t.equal(calls.keep(first, 10), true, 'fewer are always taken')
  t.equal(calls.keep(second, 90), true)
  calls.remove(second)
  t.equal(calls.keep(first, 100), true)
})
