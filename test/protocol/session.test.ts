import t from 'tap'
import { Session } from '../../protocol/session.js'
import { revision } from './recorder.js'

const session = (version = '2025-11-25'): Session => new Session({ revision: revision(version) }, false)

t.test('an id cannot be guessed and is fit for a header', async t => {
  const ids = Array.from({ length: 100 }, () => session().id)
  t.equal(new Set(ids).size, 100)
  for (const id of ids) t.match(id, /^[A-Za-z0-9_-]{32}$/)
})

t.test('what belongs to no call goes to the standalone stream', async t => {
  const { peer, standalone } = session()
  peer.notify('notifications/tools/list_changed')
  const texts: string[] = []
  standalone.attach({ write: ({ text }) => { texts.push(text) }, end: () => {} })
  t.strictSame(texts, ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'])
})

t.test('an event id leads to its stream and place', async t => {
  const { standalone, openStream, locate } = bound(session())
  const [first, second] = [openStream(), openStream()]
  standalone.emit('s', 'm')
  first.emit('a', 'm')
  first.emit('b', 'm')
  second.emit('c', 'm')
  t.strictSame(locate('0-1'), { stream: standalone, after: 1 })
  t.strictSame(locate('1-1'), { stream: first, after: 1 })
  t.strictSame(locate('2-0'), { stream: second, after: 0 })
})

for (const id of ['', '1', '1-', '-1', '9-0', '1-5', '1-1x', ' 1-1', '1--1', '01-1', '1-1-1', '1e0-1', '0-99999999999999999999', '__proto__-1']) {
  t.test(`the event id ${JSON.stringify(id)} leads nowhere`, async t => {
    const { openStream, locate } = bound(session())
    openStream().emit('a', 'm')
    t.equal(locate(id), undefined)
  })
}

t.test('a finished stream is kept for a client that lost its end', async t => {
  const { openStream, locate } = bound(session())
  const stream = openStream()
  stream.respond('answer')
  stream.end()
  t.equal(locate(`${stream.key}-0`)?.stream, stream)
})

t.test('the oldest finished streams are given up, the ones still open never', async t => {
  const { openStream, locate } = bound(session())
  const open = openStream()
  const finished = Array.from({ length: 300 }, () => { const stream = openStream(); stream.end(); return stream })
  t.equal(locate(`${open.key}-0`)?.stream, open)
  t.equal(locate(`${finished[0]?.key}-0`), undefined)
  t.equal(locate(`${finished.at(-1)?.key}-0`)?.stream, finished.at(-1))
  t.equal(finished.filter(({ key }) => locate(`${key}-0`) !== undefined).length, 255)
})

t.test('finished replies are kept up to about a mebibyte, the oldest given up first', async t => {
  const { openStream, locate } = bound(session())
  const replies = Array.from({ length: 60 }, () => {
    const stream = openStream()
    stream.respond('x'.repeat(100_000))
    stream.end()
    return stream
  })
  openStream()
  const kept = replies.filter(({ key }) => locate(`${key}-0`) !== undefined)
  t.ok(kept.length >= 9 && kept.length <= 11, `${kept.length} of 100,000 characters`)
  t.strictSame(kept, replies.slice(-kept.length))
})

t.test('replies that were under way side by side are given up as well once they are finished, but the newest is kept', async t => {
  const { openStream, locate } = bound(session())
  const replies = Array.from({ length: 50 }, openStream)
  for (const stream of replies) {
    stream.respond('x'.repeat(100_000))
    stream.end()
  }
  const kept = replies.filter(({ key }) => locate(`${key}-0`) !== undefined)
  t.ok(kept.length >= 9 && kept.length <= 11, `${kept.length} of 100,000 characters`)
  const large = openStream()
  large.respond('x'.repeat(2_000_000))
  large.end()
  t.equal(locate(`${large.key}-0`)?.stream, large)
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
  t.equal(locate(`${open.key}-0`)?.stream, open)
})

t.test('replies are primed where the revision knows polling', async t => {
  for (const [version, primed] of [['2025-11-25', true], ['2025-06-18', false]] as const) {
    let first: unknown
    session(version).openStream().attach({ write: event => { first ??= event }, end: () => {} })
    t.equal(first !== undefined, primed, version)
  }
})

t.test('a session is busy while its client is connected', async t => {
  const { standalone, ...rest } = bound(session())
  t.equal(rest.busy(), false)
  const sink = { write: () => {}, end: () => {} }
  standalone.attach(sink)
  t.equal(rest.busy(), true)
  standalone.detach(sink)
  t.equal(rest.busy(), false)
})

function bound (session: Session) {
  return {
    standalone: session.standalone,
    openStream: () => session.openStream(),
    locate: (id: string) => session.locate(id),
    busy: () => session.busy
  }
}

t.test('a finished reply that nobody has fetched is kept longer than one that was read', async t => {
  const client = session()
  const reply = (size: number, read: boolean) => {
    const stream = client.openStream()
    if (read) stream.attach({ write: () => {}, end: () => {} })
    stream.respond('x'.repeat(size))
    stream.end()
    return `${stream.key}-0`
  }
  const released = reply(600_000, false)
  const read = reply(300_000, true)
  const newest = reply(300_000, true)
  t.ok(client.locate(released), 'its client may still come for it')
  t.notOk(client.locate(read))
  t.ok(client.locate(newest))
})
