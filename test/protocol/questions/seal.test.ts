import t from 'tap'
import { Sealer } from '../../../protocol/questions/seal.js'

const VALUE = { answers: { user_name: 'Ada' }, once: { charge: 42 } }

t.test('a sealed value is opened as it was', async t => {
  const sealer = new Sealer()
  for (const value of [VALUE, 'text', 0, null, [], '', 'é😀']) {
    t.strictSame(sealer.open('p', sealer.seal('p', value)), value)
  }
})

t.test('a token reveals nothing of its value, and is never the same twice', async t => {
  const sealer = new Sealer()
  const token = sealer.seal('p', VALUE)
  t.notMatch(Buffer.from(token, 'base64url').toString('latin1'), /Ada|charge|42/)
  t.not(token, sealer.seal('p', VALUE))
  t.match(token, /^[A-Za-z0-9_-]+$/, 'fit for a URL and a header')
})

t.test('a token with any one bit flipped is not accepted', async t => {
  const sealer = new Sealer()
  const bytes = Buffer.from(sealer.seal('p', VALUE), 'base64url')
  const accepted: number[] = []
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const altered = Buffer.from(bytes)
    altered[bit >> 3] = (altered[bit >> 3] as number) ^ (1 << (bit & 7))
    if (sealer.open('p', altered.toString('base64url')) !== undefined) accepted.push(bit)
  }
  t.strictSame(accepted, [])
})

t.test('a token with any one character changed, added or taken away is not accepted', async t => {
  const sealer = new Sealer()
  const token = sealer.seal('p', 'x')
  const accepted: string[] = []
  for (let at = 0; at <= token.length; at++) {
    const [before, after] = [token.slice(0, at), token.slice(at + 1)]
    for (const altered of [
      `${before}A${after}`,
      `${before}_${after}`,
      `${before}=${after}`,
      `${before} ${token.slice(at)}`,
      `${before}${after}`,
      before
    ]) {
      if (altered !== token && sealer.open('p', altered) !== undefined) accepted.push(altered)
    }
  }
  t.strictSame(accepted, [])
})

t.test('the same bytes in another spelling are not accepted', async t => {
  const sealer = new Sealer()
  const bytes = Buffer.from(sealer.seal('p', { some: 'value?' }), 'base64url')
  const token = bytes.toString('base64url')
  for (const spelling of [bytes.toString('base64'), `${token}=`, `${token}\n`, ` ${token}`, bytes.toString('hex')]) {
    if (spelling !== token) t.equal(sealer.open('p', spelling), undefined, JSON.stringify(spelling))
  }
})

t.test('a token is good for its own purpose only', async t => {
  const sealer = new Sealer()
  const token = sealer.seal('tools/list', 'a')
  for (const other of ['resources/list', 'tools/list ', 'TOOLS/LIST', '']) t.equal(sealer.open(other, token), undefined)
})

t.test('a token of another key is not accepted', async t => {
  t.equal(new Sealer().open('p', new Sealer().seal('p', VALUE)), undefined)
  t.equal(new Sealer('0123456789abcdef').open('p', new Sealer('0123456789abcdeg').seal('p', VALUE)), undefined)
})

t.test('instances that share a secret understand each other', async t => {
  const secret = 'a secret of some length'
  t.strictSame(new Sealer(secret).open('p', new Sealer(secret).seal('p', VALUE)), VALUE)
})

t.test('nonsense is not accepted and does not throw', async t => {
  const sealer = new Sealer()
  for (const nonsense of ['', 'x', 'null', '{}', '\u0000', 'A'.repeat(38), 'A'.repeat(1e6), '😀', '../../etc/passwd']) {
    t.equal(sealer.open('p', nonsense), undefined)
  }
})
