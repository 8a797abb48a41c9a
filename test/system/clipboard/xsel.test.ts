import t from 'tap'
import { Xsel } from '../../../system/clipboard/xsel.js'

/** A clipboard that gives these texts, one after the other and then the last for ever, and records what was written. */
function scripted (...texts: string[]) {
  const written: string[] = []
  let reads = 0
  const clipboard = {
    read: async () => texts[Math.min(reads++, texts.length - 1)] as string,
    write: async (text: string) => { written.push(text) }
  }
  return { xsel: new Xsel(clipboard), written, reads: () => reads, clipboard }
}

const { signal } = new AbortController()

t.test('a read waits for the text that was written', async t => {
  const { xsel, reads } = scripted('old', 'old', 'new')
  await xsel.write('new', signal)
  t.equal(await xsel.read(signal), 'new')
  t.equal(reads(), 3)
})

t.test('a text that another program wrote is given at once', async t => {
  const { xsel, reads, written } = scripted('x'.repeat(5_000))
  t.equal((await xsel.read(signal)).length, 5_000)
  t.equal(reads(), 1)
  t.strictSame(written, [], 'and left to whom it belongs')
})

t.test('the wait ends with the call', async t => {
  const { xsel } = scripted('old')
  const cancel = new AbortController()
  await xsel.write('new', cancel.signal)
  const reading = xsel.read(cancel.signal)
  cancel.abort()
  await t.rejects(reading, { name: 'AbortError' })
})

t.test('a long text of ours is put back after it was read, a short one stays', async t => {
  for (const [length, times] of [[100, 1], [5_000, 2]] as const) {
    const text = 'x'.repeat(length)
    const { xsel, written } = scripted(text)
    await xsel.write(text, signal)
    t.ok(await xsel.read(signal) === text)
    t.equal(written.length, times)
    t.ok(written.every(one => one === text))
  }
})

t.test('a text that cannot be put back was read all the same', async t => {
  const text = 'x'.repeat(5_000)
  const { xsel, clipboard } = scripted(text)
  await xsel.write(text, signal)
  clipboard.write = async () => { throw new Error('gone') }
  t.ok(await xsel.read(signal) === text)
})
