import t from 'tap'
import type { ResumableStream } from '../../../protocol/sessions/streams/resumable-stream.js'
import type { StreamEvent } from '../../../protocol/sessions/streams/sink.js'
import { Session } from '../../../protocol/sessions/session.js'
import type { ResumePoint } from '../../../protocol/sessions/streams/resume-point.js'
import { sessionFrom } from '../../../protocol/sessions/stored/stored-session.js'
import { memoryStore } from '../../../stores/memory/store.js'
import { revision } from '../../support/recorder.js'
import { RECORD, sessionPorts, TOMORROW } from '../../support/stream-log.js'

/** A session that is kept, as one is once `initialize` was answered. */
function session (version = '2025-11-25'): Session {
  const { sessions: store } = memoryStore()
  const made = new Session({
    ports: sessionPorts(store, error => {
      throw error
    }),
    peer: { revision: revision(version) }
  })
  void store.save(made.id, RECORD, TOMORROW)
  return made
}

t.test('an id cannot be guessed and is fit for a header', async t => {
  const ids = Array.from({ length: 100 }, () => session().id)
  t.equal(new Set(ids).size, 100)
  for (const id of ids) t.match(id, /^[A-Za-z0-9_-]{32}$/)
})

t.test('a message that belongs to no call goes to the standalone stream', async t => {
  const { peer, standalone } = session()
  peer.notify('notifications/tools/list_changed')
  const texts: string[] = []
  standalone.attach({ write: ({ text }) => { texts.push(text) }, end: () => {}, close: () => {} })
  await standalone.flush()
  t.strictSame(texts, ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'])
})

t.test('an event id leads to its stream and place', async t => {
  const { standalone, openStream, locate } = bound(session())
  const [first, second] = [openStream(), openStream()]
  standalone.emit('s', 'm')
  first.emit('a', 'm')
  first.emit('b', 'm')
  second.emit('c', 'm')
  t.strictSame(await locate('0-1'), { stream: standalone, after: 1 })
  t.strictSame(await locate(`${first.key}-1`), { stream: first, after: 1 })
  t.strictSame(await locate(`${second.key}-0`), { stream: second, after: 0 })
})

for (const id of [
  '',
  'KEY',
  'KEY-',
  '-1',
  '9-0',
  'KEY-5',
  'KEY-1x',
  ' KEY-1',
  'KEY--1',
  '0KEY-1',
  'KEY-1-1',
  'KEYe0-1',
  'KEY-0.5',
  'KEY-NaN',
  'KEY-1e0',
  '0-1',
  '0-99999999999999999999',
  '__proto__-1'
]) {
  t.test(`the event id ${JSON.stringify(id)} leads nowhere`, async t => {
    const { openStream, locate } = bound(session())
    const stream = openStream()
    stream.emit('a', 'm')
    t.ok(await locate(`${stream.key}-1`), 'while the right one leads somewhere')
    t.equal(await locate(id.replace('KEY', stream.key)), undefined)
  })
}

t.test('the keys of replies differ from process to process', async t => {
  const keys = Array.from({ length: 100 }, () => session().openReply('').key)
  t.equal(new Set(keys).size, 100)
  for (const key of keys) t.match(key, /^[0-9a-f]{12}$/)
})

t.test('a finished stream is kept for a client that lost its end', async t => {
  const { openStream, locate } = bound(session())
  const stream = openStream()
  stream.respond('answer')
  stream.end()
  t.equal((await placeAt(locate, `${stream.key}-0`))?.stream.key, stream.key)
})

t.test('the oldest finished streams are given up, the ones still open never', async t => {
  const { openStream, locate, reachable } = bound(session())
  const open = openStream()
  await open.flush()
  const finished = Array.from({ length: 300 }, () => { const stream = openStream(); stream.end(); return stream })
  t.equal((await placeAt(locate, `${open.key}-0`))?.stream.key, open.key)
  t.equal(await locate(`${finished[0]?.key}-0`), undefined)
  t.equal(await locate(`${finished.at(-1)?.key}-0`), 'exhausted')
  t.equal((await reachable(finished)).length, 255)
})

t.test('finished replies are kept up to about a mebibyte, the oldest given up first', async t => {
  const { openStream, reachable } = bound(session())
  const replies = Array.from({ length: 60 }, () => {
    const stream = openStream()
    stream.respond('x'.repeat(100_000))
    stream.end()
    return stream
  })
  openStream()
  const kept = await reachable(replies)
  t.ok(kept.length >= 9 && kept.length <= 11, `${kept.length} of 100,000 characters`)
  t.strictSame(kept, replies.slice(-kept.length))
})

t.test('parallel replies are dropped once they are finished, but the newest is kept', async t => {
  const { openStream, locate, reachable } = bound(session())
  const replies = Array.from({ length: 50 }, openStream)
  for (const stream of replies) {
    stream.respond('x'.repeat(100_000))
    stream.end()
  }
  const kept = await reachable(replies)
  t.ok(kept.length >= 9 && kept.length <= 11, `${kept.length} of 100,000 characters`)
  const large = openStream()
  large.respond('x'.repeat(2_000_000))
  large.end()
  t.equal((await placeAt(locate, `${large.key}-0`))?.stream.key, large.key)
})

t.test('a reply that is not finished is kept, however much the others need', async t => {
  const { openStream, locate } = bound(session())
  const open = openStream()
  open.emit('x'.repeat(900_000), 'm')
  for (let count = 0; count < 20; count++) {
    const stream = openStream()
    stream.respond('x'.repeat(500_000))
    stream.end()
  }
  t.equal((await placeAt(locate, `${open.key}-0`))?.stream.key, open.key)
})

t.test('replies are primed where the revision knows polling', async t => {
  for (const [version, primed] of [['2025-11-25', true], ['2025-06-18', false]] as const) {
    let first: unknown
    const stream = session(version).openReply('')
    stream.attach({ write: event => { first ??= event }, end: () => {}, close: () => {} })
    await stream.flush()
    t.equal(first !== undefined, primed, version)
  }
})

t.test('a session is busy while its client is connected', async t => {
  const { standalone, ...rest } = bound(session())
  t.equal(rest.busy(), false)
  const sink = { write: () => {}, end: () => {}, close: () => {} }
  standalone.attach(sink)
  t.equal(rest.busy(), true)
  standalone.detach(sink)
  t.equal(rest.busy(), false)
})

function bound (session: Session) {
  return {
    standalone: session.standalone,
    openStream: () => session.openReply(''),
    locate: async (id: string) => await session.findResumePoint(id),
    reachable: async (replies: ResumableStream[]) => {
      const places = await Promise.all(replies.map(async ({ key }) => await session.findResumePoint(`${key}-0`)))
      return replies.filter((_, index) => places[index] !== undefined)
    },
    busy: () => session.isBusy
  }
}

t.test('a finished reply that was not fetched is kept longer than one that was read', async t => {
  const client = session()
  const reply = async (size: number, read: boolean) => {
    const stream = client.openReply('')
    if (read) stream.attach({ write: () => {}, end: () => {}, close: () => {} })
    stream.respond('x'.repeat(size))
    stream.end()
    await stream.flush()
    return `${stream.key}-0`
  }
  const released = await reply(600_000, false)
  const read = await reply(300_000, true)
  const newest = await reply(300_000, true)
  t.ok(await client.findResumePoint(released), 'its client may still come for it')
  t.notOk(await client.findResumePoint(read))
  t.ok(await client.findResumePoint(newest))
})

t.test('the result of the handshake is stored, and a restored session has it', async t => {
  const { sessions: store } = memoryStore()
  const first = new Session({
    ports: sessionPorts(store),
    peer: { revision: revision('2025-06-18'), identity: { principal: 'ada', scopes: 'all' } }
  })
  Object.assign(first.peer, {
    initialized: true,
    client: { name: 'c', version: '1' },
    capabilities: { roots: {} },
    logLevel: 'debug'
  })
  first.peer.setSubscribed('test://text', true)
  await store.save(first.id, first.record, TOMORROW)
  const { record } = await store.load(first.id) ?? {}
  t.ok(record)
  if (record === undefined) return
  t.strictSame(record, first.record)
  const { id, peer } = sessionFrom(record, { id: first.id, ports: sessionPorts(store) })
  t.match(
    { id, peer },
    {
      id: first.id,
      peer: {
        revision: { version: '2025-06-18' },
        principal: 'ada',
        initialized: true,
        client: { name: 'c' },
        capabilities: { roots: {} },
        logLevel: 'debug'
      }
    }
  )
})

t.test('a restored session continues its streams where they were', async t => {
  const { sessions: store } = memoryStore()
  const first = new Session({ ports: sessionPorts(store) })
  await store.save(first.id, RECORD, TOMORROW)
  first.standalone.emit('a', 'm')
  await first.settled()
  const second = sessionFrom(RECORD, { id: first.id, ports: sessionPorts(store) })
  second.standalone.emit('b', 'm')
  t.match(await eventsAfter(second, '0-0'), [
    { id: '0-0', text: '' },
    { id: '0-1', text: 'a' },
    { id: '0-2', text: 'b' }
  ])
})

async function eventsAfter (session: Session, eventId: string): Promise<StreamEvent[]> {
  const place = await placeAt(async id => await session.findResumePoint(id), eventId)
  const events: StreamEvent[] = []
  place?.stream.attach({ write: event => { events.push(event) }, end: () => {}, close: () => {} }, place.after)
  await place?.stream.flush()
  return events
}

t.test('an event that cannot be stored is reported, and the client gets it all the same', async t => {
  const { sessions } = memoryStore()
  const broken = { append: async () => { throw new Error('full') } }
  const troubles: unknown[] = []
  const { standalone } = new Session({
    ports: sessionPorts(Object.assign(sessions, broken), error => {
      troubles.push(error)
    })
  })
  const events: StreamEvent[] = []
  standalone.attach({ write: event => { events.push(event) }, end: () => {}, close: () => {} })
  standalone.emit('a', 'm')
  await standalone.flush()
  t.match(events, [{ text: 'a' }])
  t.match(troubles, [{ message: 'full' }])
})

async function placeAt (locate: Session['findResumePoint'], id: string): Promise<ResumePoint | undefined> {
  const place = await locate(id)
  return place === 'exhausted' ? undefined : place
}
