import t from 'tap'
import { Output } from '../../../system/programs/output.js'
import { until } from '../../support/wait.js'

function recorded (limit = 1_000) {
  const reported: Array<[bytes: number, text: string]> = []
  return { reported, output: new Output(limit, (bytes, text) => { reported.push([bytes, text]) }) }
}

t.test('characters that come in pieces come out whole, on each stream by itself', async t => {
  const { output, reported } = recorded()
  const text = 'a€😀é'
  for (const byte of Buffer.from(text)) {
    output.write('stdout', Buffer.of(byte))
    output.write('stderr', Buffer.of(byte))
  }
  output.end()
  t.strictSame([output.stdout, output.stderr], [text, text])
  t.notMatch(JSON.stringify(reported), '\ufffd')
  t.equal(reported.at(-1)?.[0], 2 * Buffer.byteLength(text))
})

t.test('bytes that are no text are marked, also at the end', async t => {
  const { output } = recorded()
  output.write('stdout', Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82]))
  output.end()
  t.strictSame([output.stdout, output.truncated], ['a\ufffdb\ufffd', false])
})

t.test('the limit holds for both streams together, and cuts no character in half', async t => {
  const { output } = recorded(6)
  output.write('stderr', Buffer.from('abc'))
  output.write('stdout', Buffer.from('d€€'))
  output.write('stderr', Buffer.from('more'))
  output.end()
  t.strictSame([output.stdout, output.stderr, output.truncated], ['d', 'abc', true])
})

t.test('output that fits exactly is whole', async t => {
  const { output } = recorded(3)
  output.write('stdout', Buffer.from('abc'))
  output.end()
  t.strictSame([output.stdout, output.truncated], ['abc', false])
})

t.test('the first output is reported at once, the rest together some time later, and nothing twice', async t => {
  const { output, reported } = recorded()
  for (const text of ['a', 'b', 'c']) output.write('stdout', Buffer.from(text))
  t.strictSame(reported, [[1, 'a']])
  await until(() => reported.length > 1)
  t.strictSame(reported, [[1, 'a'], [3, 'bc']])
  output.write('stderr', Buffer.from('d'))
  output.end()
  t.strictSame(reported.at(-1), [4, 'd'])
})
