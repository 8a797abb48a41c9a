import t from 'tap'
import {
  clock,
  counted,
  errorRate,
  healthWords,
  outcomeWords,
  percentile,
  questionWords,
  rate,
  refusalWords,
  windowWords
} from '../../../console/watch/words.js'

const table = <T>(
  name: string,
  words: (value: T) => string | undefined,
  rows: Array<[T, string | undefined]>
): void => {
  t.test(name, async t => {
    for (const [value, expected] of rows) t.equal(words(value), expected, JSON.stringify(value))
  })
}

table('a rate has a digit after the point while it is small', rate, [
  [0, '0'],
  [0.4, '0.4'],
  [9.96, '10'],
  [12.4, '12'],
  [9800, '9,800']
])

table('an error rate is never 0 % where there is an error', errorRate, [
  [{ calls: 0, errors: 0 }, '0 %'],
  [{ calls: 10, errors: 0 }, '0 %'],
  [{ calls: 1e6, errors: 1 }, 'under 0.1 %'],
  [{ calls: 1000, errors: 4 }, '0.4 %'],
  [{ calls: 8, errors: 1 }, '13 %'],
  [{ calls: 1, errors: 1 }, '100 %']
])

t.test('a percentile without calls is none', async t => {
  t.equal(percentile(0, 0), undefined)
  t.equal(percentile(0.2, 1), '0.2 ms')
})

t.test('one is told in the singular', async t => {
  t.equal(counted(1, 'call'), '1 call')
  t.equal(counted(2000, 'call'), '2,000 calls')
})

table('health is told in words', healthWords, [
  [undefined, 'Not known yet'],
  [{ status: 'healthy', ready: true }, 'Healthy'],
  [{ status: 'overloaded', ready: false }, 'Overloaded: new calls are refused'],
  [{ status: 'constructor', ready: true }, 'constructor: calls are answered']
])

table(
  'a refusal is told in words, also one that the page does not know',
  (reason: string) => refusalWords({ reason }),
  [
    ['rate', 'Too many calls by one caller'],
    ['PATCHBAY_SESSION_ID_MISSING', 'Session id missing'],
    ['toString', 'Tostring'],
    ['', '']
  ]
)

table('a question is told by who has to answer it', questionWords, [
  ['elicitation/create', 'waits for an answer of a person'], ['new/method', 'waits for an answer to new/method']
])

t.test('an outcome has its code, and a time its seconds', async t => {
  t.equal(outcomeWords('ok'), 'ok')
  t.equal(outcomeWords('error', -32602), 'error -32602')
  t.equal(clock(new Date(2026, 0, 2, 3, 4, 5).getTime()), '03:04:05')
})

t.test('numbers say since when they count: for five minutes, or since the gateway started', async t => {
  const startedAt = new Date(2026, 0, 1, 20, 14, 3).getTime()
  t.strictSame(windowWords({ startedAt }, startedAt + 1_000), {
    short: 'since 20:14:03',
    sentence: 'since the gateway started at 20:14:03'
  })
  t.equal(windowWords({ startedAt }, startedAt + 300_000).short, 'last 5 min')
  t.equal(windowWords(undefined, 0).short, 'last 5 min')
})
