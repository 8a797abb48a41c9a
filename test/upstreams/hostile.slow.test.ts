import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { attacks } from './hostile/attacks.js'
import { withBystanders, type Scene } from './hostile/bystanders.js'
import { upstreamsReady } from '../support/upstreams.js'
import { inTime, until } from '../support/wait.js'

/** Lower than by default, so that they are reached soon. */
const LIMITS = { limits: { maxUpstreamPages: 50, maxUpstreamMessage: 16 * 1024 * 1024 } }

type Outcome = (t: Test, scene: Scene) => Promise<void>

/** The time of a call is over soon, where that may be how the attack ends. */
const entry = (attack: string): object => ({
  command: process.execPath,
  args: [fileURLToPath(new URL('hostile/program.js', import.meta.url)), attack],
  timeout: outcomes[attack] === undefined ? 60_000 : 3_000
})

/** The tool `attack` answers, and the server can be used afterwards. */
const harmless: Outcome = async (t, scene) => {
  t.match(await attack(scene), { result: { content: [{ text: 'done' }] } })
  await usable(t, scene)
}

/** The call fails with an error that names the server, which can be used afterwards. */
const refused: Outcome = async (t, scene) => {
  const { error } = await attack(scene)
  t.match(error?.message, /\bbad\b/, 'the error names the server')
  await usable(t, scene)
}

/** The call ends in one of these ways: a line without an id may be taken for the answer or for noise. */
const settled: Outcome = async (t, scene) => {
  const { error } = await attack(scene)
  t.match(error?.message ?? 'bad', /\bbad\b/, 'an error names the server')
  await usable(t, scene)
}

const unharmed: Outcome = async (t, scene) => await usable(t, scene)

/** What becomes of each attack; those not named here are harmless. */
const outcomes: Record<string, Outcome> = {
  'endless pages': unharmed,
  'endless empty pages': unharmed,
  'a repeating cursor': unharmed,
  'a cursor of 10 MiB': unharmed,
  '10,000 tools': unharmed,
  'entries of every kind': unharmed,
  'no list at all': async () => {},
  'a line of 100 MiB': settled,
  'an answer of 100 MiB': refused,
  'names of Object.prototype': refused,
  'a very deep answer': refused,
  'noise on standard output': unharmed,
  'a result that is no object': refused,
  'an error that is no error': refused,
  'neither result nor error': refused,
  'a flood of questions outside calls': unharmed,
  'a flood of pings': unharmed,
  'a flood on standard error': unharmed,
  'a flood of changed lists': async (t, scene) => {
    await harmless(t, scene)
    const counts = async () => JSON.parse(await fine(scene)) as Record<string, number>
    const listed = (await counts())['tools/list'] ?? 0
    t.ok(listed <= 6, `5,000 announcements led to ${listed} requests for the list`)
  },
  'never reads': async (t, scene) => {
    t.match(await attack(scene), { result: { content: [{ text: 'done' }] } })
    const big = 'x'.repeat(1024 * 1024)
    const outcomes = await Promise.allSettled(
      Array.from(
        { length: 40 },
        async () => await scene.client.request('tools/call', { name: 'bad__fine', arguments: { big } })
      )
    )
    t.ok(outcomes.every(({ status }) => status === 'rejected'), 'every call fails in time')
  },
  silence: async (t, scene) => {
    t.match((await attack(scene)).error?.message, /3000 ms|bad/)
    await usable(t, scene)
  },
  'exits in the middle of an answer': refused,
  'closes its output': async (t, scene) => { t.match((await attack(scene)).error?.message, /\bbad\b|3000 ms/) }
}

// The client here keeps all that it gets, which would be what is measured: slow-client.test.ts has that attack.
for (const name of Object.keys(attacks).filter(name => name !== 'much progress')) {
  t.test(`others do not notice a server with ${name}`, async t => {
    const scene = await withBystanders(t, entry(name), LIMITS)
    if (name !== 'no list at all') await inTime(upstreamsReady(scene.app, ['bad']), 'the start of the bad server')
    await (outcomes[name] ?? harmless)(t, scene)
    t.notOk('polluted' in {}, 'no prototype was changed')
    await scene.check()
    await inTime(scene.app.close(), 'the end of the gateway')
  })
}

async function attack ({ client }: Scene): Promise<{ result?: object, error?: Error }> {
  const call = client.request('tools/call', { name: 'bad__attack', arguments: {}, _meta: { progressToken: 1 } })
  return await inTime(call, 'the end of the attack').then(result => ({ result }), (error: Error) => ({ error }))
}

async function fine ({ client }: Scene): Promise<string> {
  const { content } = (await client.request('tools/call', { name: 'bad__fine', arguments: {} })) as {
    content: Array<{ text: string }>
  }
  return content[0]?.text ?? ''
}

// A server that ended is started again, which takes a moment.
async function usable (t: Test, scene: Scene): Promise<void> {
  await until(async () => await fine(scene).then(() => true, () => false), 'the server can be used')
  t.pass('the server can be used')
}
