import type { Test } from 'tap'
import { STREAM_LIMITS, type SessionStore } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import type { Open } from '../contract.js'

/** What a session gives up of its replies, and what never. */
export function surplusOfStreams (t: Test, open: Open): void {
  t.test(`beyond ${STREAM_LIMITS.streams} replies the oldest finished ones are dropped, none in flight`, async t => {
    const box = await session(t, open)
    const { sessions } = box.store
    await sessions.open('s', 'open', '')
    const names = Array.from({ length: 300 }, (_, index) => `f${index}`)
    for (const name of names) await reply(sessions, name, 1, true)
    await box.pause()
    t.strictSame(await kept(box.store.sessions, ['open', ...names]), [
      'open',
      ...names.slice(-(STREAM_LIMITS.streams - 1))
    ])
    t.strictSame(await kept(box.store.sessions, ['0']), ['0'])
  })

  t.test(`beyond ${STREAM_LIMITS.text} characters the oldest finished ones are dropped`, async t => {
    const box = await session(t, open)
    const names = Array.from({ length: 30 }, (_, index) => `f${index}`)
    for (const name of names) await reply(box.store.sessions, name, 100_000, true)
    await box.pause()
    t.strictSame(await kept(box.store.sessions, names), names.slice(-10))
  })

  t.test('replies that were not fetched are dropped last', async t => {
    const box = await session(t, open)
    await reply(box.store.sessions, 'unfetched', 600_000, false)
    await reply(box.store.sessions, 'read', 300_000, true)
    await reply(box.store.sessions, 'newest', 300_000, true)
    await box.pause()
    t.strictSame(await kept(box.store.sessions, ['unfetched', 'read', 'newest']), ['unfetched', 'newest'])
    await reply(box.store.sessions, 'enormous', 2_000_000, true)
    t.strictSame(
      await kept(box.store.sessions, ['unfetched', 'newest', 'enormous']),
      ['enormous'],
      'the newest is always kept'
    )
  })

  t.test('a reply in flight is kept, however much the others need', async t => {
    const box = await session(t, open)
    const { sessions } = box.store
    await sessions.append('s', 'open', { text: 'x'.repeat(900_000), method: '' }, false)
    for (let count = 0; count < 5; count++) await reply(sessions, `f${count}`, 500_000, true)
    await box.pause()
    t.strictSame(await kept(box.store.sessions, ['open', 'f3', 'f4']), ['open', 'f4'])
  })

  t.test('the standalone stream is not counted and never dropped', async t => {
    const box = await session(t, open)
    await box.store.sessions.append('s', '0', { text: 'x'.repeat(1_000_000), method: '' }, true)
    await box.store.sessions.end('s', '0')
    for (let count = 0; count < 3; count++) await reply(box.store.sessions, `f${count}`, 300_000, true)
    await box.pause()
    t.strictSame(await kept(box.store.sessions, ['0', 'f0', 'f1', 'f2']), ['0', 'f0', 'f1', 'f2'])
  })

  t.test('one session drops nothing for another', async t => {
    const { store: { sessions } } = await session(t, open)
    await sessions.save('s2', RECORD, TOMORROW)
    await sessions.append('s2', 'theirs', { text: 'x'.repeat(900_000), method: '' }, true)
    await sessions.end('s2', 'theirs')
    for (let count = 0; count < 5; count++) await reply(sessions, `f${count}`, 500_000, true)
    t.ok(await sessions.read('s2', 'theirs', 0))
  })
}

async function session (t: Test, open: Open) {
  const box = await open(t)
  await box.store.sessions.save('s', RECORD, TOMORROW)
  await box.store.sessions.append('s', '0', { text: 'x', method: '' }, true)
  return box
}

async function reply (sessions: SessionStore, stream: string, size: number, seen: boolean): Promise<void> {
  await sessions.open('s', stream, 'last word')
  await sessions.append('s', stream, { text: 'x'.repeat(size), method: '' }, seen)
  await sessions.end('s', stream)
}

async function kept (sessions: SessionStore, names: string[]): Promise<string[]> {
  const found = await Promise.all(names.map(async name => await sessions.read('s', name, undefined)))
  return names.filter((_, index) => found[index] !== undefined)
}
