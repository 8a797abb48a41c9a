import t from 'tap'
import { parseJson } from '../../../protocol/wire/json.js'

/** What is read as it was written. */
const isWellFormed = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes)

/** The result for these bytes: the text they are in JSON, or why not. */
function outcome (bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    return (error as Error).message
  }
}

const NOT_UTF8 = /not valid UTF-8/
const isRefused = (bytes: Uint8Array): boolean => NOT_UTF8.test(String(outcome(bytes)))

const quoted = (...parts: Array<string | number[]>): Buffer =>
  Buffer.concat(['"', ...parts, '"'].map(part => typeof part === 'string' ? Buffer.from(part) : Buffer.from(part)))

/**
 * Text of one byte for each character, of two, of three and of four, before or behind what is wrong; much of it is read
 * in another way than a little.
 */
const SURROUNDINGS = [
  '',
  'a',
  'é',
  '€',
  '😀',
  '\ufffd',
  'plain text '.repeat(40),
  'größer '.repeat(40),
  '€😀'.repeat(400)
]

const WRONG: Record<string, number[][]> = {
  'a continuation without a beginning': [[0x80], [0xbf], [0x80, 0xbf], [0xa9]],
  'a beginning without its continuation': [[0xc2], [0xc3], [0xdf], [0xe0], [0xe2], [0xef], [0xf0], [0xf4]],
  'a character cut short': [
    [0xe2, 0x82],
    [0xe0, 0xa0],
    [0xf0, 0x9f],
    [0xf0, 0x9f, 0x98],
    [0xf4, 0x8f, 0xbf]
  ],
  'a character that is followed by the next before it is over': [
    [0xe2, 0x82, 0xc3, 0xa9],
    [0xf0, 0x9f, 0x98, 0xe2, 0x82, 0xac],
    [0xc3, 0xc3, 0xa9]
  ],
  'one continuation too many': [
    [0xc3, 0xa9, 0xa9],
    [0xe2, 0x82, 0xac, 0x80],
    [0xf0, 0x9f, 0x98, 0x80, 0x80],
    [0xef, 0xbf, 0xbd, 0xbd]
  ],
  'an overlong form': [
    [0xc0, 0x80],
    [0xc0, 0xaf],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xe0, 0x80, 0xaf],
    [0xe0, 0x9f, 0xbf],
    [0xf0, 0x80, 0x80, 0xaf],
    [0xf0, 0x8f, 0xbf, 0xbf]
  ],
  'a surrogate': [
    [0xed, 0xa0, 0x80],
    [0xed, 0xad, 0xbf],
    [0xed, 0xae, 0x80],
    [0xed, 0xb0, 0x80],
    [0xed, 0xbf, 0xbf]
  ],
  'a pair of surrogates': [
    [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
    [0xed, 0xaf, 0xbf, 0xed, 0xbf, 0xbf]
  ],
  'what is above U+10FFFF': [
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xf7, 0xbf, 0xbf, 0xbf]
  ],
  'a form of five or six bytes': [
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0xfb, 0xbf, 0xbf, 0xbf, 0xbf],
    [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80],
    [0xfd, 0xbf, 0xbf, 0xbf, 0xbf, 0xbf]
  ],
  'a byte that is never used': [[0xfe], [0xff], [0xff, 0xfe], [0xfe, 0xff], [0xc0], [0xc1], [0xf5]]
}

for (const [what, sequences] of Object.entries(WRONG)) {
  t.test(`${what} is refused anywhere in a message, whatever else is in it`, async t => {
    for (const sequence of sequences) {
      const name = Buffer.from(sequence).toString('hex')
      t.notOk(isWellFormed(Buffer.from(sequence)), `${name} is wrong`)
      const missed = SURROUNDINGS.flatMap(before => SURROUNDINGS.map(after => quoted(before, sequence, after))).filter(
        bytes => !isRefused(bytes)
      )
      t.equal(missed.length, 0, `${name} in a text`)
      t.ok(isRefused(Buffer.concat([Buffer.from(sequence), Buffer.from('{}')])), `${name} before a message`)
      t.ok(isRefused(Buffer.concat([Buffer.from('{}'), Buffer.from(sequence)])), `${name} behind a message`)
      t.ok(isRefused(Buffer.from(sequence)), `${name} alone`)
    }
  })
}

t.test('any two bytes are refused when they are not UTF-8, and only then', async t => {
  let wrong = 0
  const different: string[] = []
  for (let pair = 0; pair < 65_536; pair++) {
    const bytes = quoted([pair >> 8, pair & 255])
    const refused = !isWellFormed(bytes)
    if (refused) wrong++
    if (isRefused(bytes) !== refused) different.push(bytes.toString('hex'))
  }
  t.strictSame(different, [])
  t.ok(wrong > 30_000, `${wrong} are none`)
})

t.test('at the edges of each range of characters, what is not UTF-8 is refused, and only that', async t => {
  const edges = [0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
  const different: string[] = []
  let right = 0
  for (let first = 0xe0; first <= 0xff; first++) {
    for (const second of edges) {
      for (const third of edges) {
        for (const rest of [[], ...edges.map(fourth => [fourth])]) {
          const bytes = quoted([first, second, third, ...rest])
          const fine = isWellFormed(bytes)
          if (fine) right++
          if (isRefused(bytes) === fine) different.push(bytes.toString('hex'))
        }
      }
    }
  }
  t.strictSame(different, [])
  t.ok(right > 100, `${right} are fine`)
})

t.test('the character that stands for what cannot be read is a character like any other', async t => {
  for (const text of ['\ufffd', 'before \ufffd after', '\ufffd'.repeat(1_000), 'é\ufffd😀', '\ufffe\uffff\ufeff']) {
    t.equal(outcome(quoted(text)), text)
    t.strictSame(parseJson(Buffer.from(JSON.stringify({ [text]: [text] }))), { [text]: [text] })
  }
  t.equal(outcome(Buffer.from('"\\ufffd"')), '\ufffd')
  t.ok(isRefused(quoted('\ufffd', [0xff])), 'but it excuses nothing')
  t.ok(isRefused(quoted([0xff], '\ufffd')))
})

t.test('half a character may be written with an escape, as JSON allows', async t => {
  t.equal(outcome(Buffer.from('"\\ud83d"')), '\ud83d')
})

t.test('bytes are read where they are, in memory that others use as well', async t => {
  const memory = new Uint8Array(64).fill(0xff)
  memory.set(Buffer.from('{"a":"é"}'), 20)
  t.strictSame(parseJson(memory.subarray(20, 30)), { a: 'é' })
  t.ok(isRefused(memory.subarray(20, 31)))
  t.ok(isRefused(memory.subarray(19, 30)))
})

t.test('of a buffer with several messages one part is read, and only its mistakes count', async t => {
  const memory = Buffer.concat([Buffer.from([0xff]), Buffer.from('{"a":"é�"}'), Buffer.from([0x80, 0xff])])
  const [start, end] = [1, memory.length - 2]
  t.strictSame(parseJson(memory.subarray(start, end)), { a: 'é�' })
  for (const [from, to] of [
    [start - 1, end],
    [start, end + 1],
    [start - 1, end + 1]
  ] as const) { t.throws(() => parseJson(memory.subarray(from, to)), NOT_UTF8) }
  const cut = Buffer.from('"€"')
  t.throws(() => parseJson(cut.subarray(0, 3)), NOT_UTF8, 'a character that goes on behind it')
  t.throws(() => parseJson(cut.subarray(2, 5)), NOT_UTF8, 'a character that began before it')
})

t.test('one wrong byte in a large message is found, wherever it is', async t => {
  const large = Buffer.from(JSON.stringify('large enough '.repeat(80_000)))
  t.type(outcome(large), 'string')
  t.notOk(isRefused(large))
  for (const at of [1, 65_535, large.length >> 1, large.length - 2]) {
    const bytes = Buffer.from(large)
    bytes[at] = 0xc3
    t.ok(isRefused(bytes), `at ${at}`)
  }
})
