import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const TESTS = new URL('../', import.meta.url)

const PAGE = new URL('../../../test/bad-input/README.md', import.meta.url)

/** Rows that have a test of their own subject, under another name. */
const ELSEWHERE: Record<string, [file: string, test: string]> = {
  D24: [
    'resources/files-hostile.test.js',
    'nothing outside a folder can be read or watched, and all of it looks as if it were not there'
  ],
  E36: [
    'plugins/security/http-rate-limit.test.js',
    'the burst is answered, and not one more; what is refused is not run'
  ],
  I2: ['access/every-route.test.js', 'so it is with WebSocket'],
  I23: ['transports/websocket/limits.test.js', 'a message that is not complete in time closes its socket'],
  I26: ['transports/websocket/limits.test.js', 'in a second as allowed are fine, one more closes the socket'],
  I30: ['access/expiry.test.js', 'a WebSocket is closed when the credential that opened it expires']
}

t.test('every row of the catalogue of bad input has a test, and every code in a test has a row', async t => {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap(line => /^\| ([A-J]\d[^|]*) \|/.exec(line)?.[1]?.split(', ') ?? [])
  t.ok(rows.length > 150, `${rows.length} rows`)
  t.equal(new Set(rows).size, rows.length, 'each is listed once')

  const tried = new Set(namesIn('bad-input').flatMap(mentioned).concat(namesIn('access').flatMap(mentioned)))
  t.strictSame(
    rows.filter(row => !tried.has(row) && !(row in ELSEWHERE)),
    [],
    'each has a test'
  )
  t.strictSame(
    namesIn('bad-input')
      .flatMap(codesAtStart)
      .filter(code => !rows.includes(code)),
    [],
    'each code is listed'
  )

  for (const [row, [file, name]] of Object.entries(ELSEWHERE)) {
    t.ok(readFileSync(new URL(file, TESTS), 'utf8').includes(name), `${row} is tried in ${file}`)
  }
  t.strictSame(
    Object.keys(ELSEWHERE).filter(row => tried.has(row)),
    [],
    'what is tried has no excuse'
  )
})

/** The strings in the tests of a folder. */
function namesIn (folder: string): string[] {
  const files = readdirSync(new URL(`${folder}/`, TESTS)).filter(
    file => file.endsWith('.test.js') && file !== 'catalogue.test.js'
  )
  return files.flatMap(
    file => readFileSync(new URL(`${folder}/${file}`, TESTS), 'utf8').match(/'[^'\n]*'|`[^`\n]*`/g) ?? []
  )
}

/** `B7–B10` and `F5 to F7` are ranges. */
function mentioned (text: string): string[] {
  return [...text.matchAll(/\b([A-J])(\d{1,2})(?:(?:–| to )\1(\d{1,2}))?\b/g)].flatMap(
    ([, part = '', first = '', last = first]) => between(first, last).map(number => part + number)
  )
}

/** The codes that a name or a row begins with. */
function codesAtStart (text: string): string[] {
  return /^['`][A-J]\d{1,2}(?=['`:,–]| and | to )/.test(text) ? mentioned(text.slice(0, 12)) : []
}

function between (first: string, last: string): number[] {
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => Number(first) + index)
}
