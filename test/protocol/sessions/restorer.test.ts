import t from 'tap'
import { SessionRestorer } from '../../../protocol/sessions/restorer.js'
import type { Session } from '../../../protocol/sessions/session.js'
import type { StoredSessions } from '../../../protocol/sessions/stored/stored-sessions.js'
import type { StoredSession } from '../../../protocol/store.js'

const STORED = {
  record: { principal: undefined, view: undefined, subscriptions: [] },
  home: 'here'
} as unknown as StoredSession

interface Answer<T> { promise: Promise<T>, resolve: (value: T) => void, reject: (error: Error) => void }

function answerLater<T> (): Answer<T> {
  const answer = {} as Answer<T>
  answer.promise = new Promise((resolve, reject) => Object.assign(answer, { resolve, reject }))
  return answer
}

const turn = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))

/** A restorer of one session, in a store whose answers the test gives. */
function restoring (served: { stale: boolean } | undefined) {
  const loads: Array<Answer<StoredSession | undefined>> = []
  const state = { session: served as Session | undefined, served: 0, loads }
  if (served !== undefined) Object.assign(served, { id: 's' })
  const restorer = new SessionRestorer({
    stored: {
      load: async () => {
        const answer = answerLater<StoredSession | undefined>()
        loads.push(answer)
        return await answer.promise
      }
    } as unknown as StoredSessions,
    served: () => state.session,
    reserve: () => {},
    serve: async () => {
      state.served++
    },
    refresh: async () => {}
  })
  return { restorer, state, ask: () => restorer.restoreFor('s', undefined, undefined) }
}

t.test('a request after DELETE waits until the session is removed, also while it was being read again', async t => {
  const { restorer, state, ask } = restoring({ stale: true })
  const before = ask()
  await turn()
  state.session = undefined
  const removed = answerLater<void>()
  const removal = restorer.remove('s', removed.promise)
  state.loads[0]?.resolve(STORED)
  await before
  await turn()
  const after = ask()
  await turn()
  t.equal(state.loads.length, 1, 'the store is not asked for what it is about to remove')
  removed.resolve()
  await removal
  await turn()
  state.loads[1]?.resolve(undefined)
  await after
  t.equal(state.served, 0)
})

t.test('while the store fails, every request of a session that is served here is served', async t => {
  const { state, ask } = restoring({ stale: true })
  const requests = [ask()]
  await turn()
  requests.push(ask())
  state.loads[0]?.reject(new Error('the store is away'))
  t.strictSame(await Promise.allSettled(requests), [
    { status: 'fulfilled', value: undefined },
    { status: 'fulfilled', value: undefined }
  ])
})

t.test('an entry of a session that is removed does not outlive the removal', async t => {
  const { restorer, state, ask } = restoring(undefined)
  await t.rejects(restorer.remove('s', Promise.reject(new Error('the store is away'))), {
    message: 'the store is away'
  })
  await turn()
  const asked = ask()
  t.equal(state.loads.length, 1, 'the next request asks the store at once')
  state.loads[0]?.resolve(undefined)
  await asked
})
