import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { readResults } from '../../../system/search/results-page.js'
import {
  ad,
  adLink,
  anomaly,
  found,
  noResults,
  page,
  redirecting,
  result,
  three
} from '../../support/environment/search-pages.js'

const base = new URL('https://html.duckduckgo.com/html/?q=mcp')
const read = (html: string, max = 20) => readResults(html, base, max)
const titles = (html: string) => read(html).map(({ title }) => title)
const NOT_RESULTS = { name: 'SearchFailure', message: 'The search service sent something that is not a results page' }

t.test('results have their title, target and snippet as text, and advertisements are left out', async t => {
  t.strictSame(read(three), found)
  t.strictSame(read(three, 1), found.slice(0, 1), 'no more than wanted')
})

t.test('an advertisement is known by its class or by its link, be it wrapped', async t => {
  const disguised = [
    result('A', adLink),
    result('B', redirecting('https://duckduckgo.com/y.js?ad_domain=x')),
    result('C', '/y.js?ad_domain=x'),
    ad
  ]
  t.strictSame(titles(page(...disguised, result('Real', 'https://real.example/y.js'))), ['Real'])
  t.strictSame(read(page(...disguised)), [], 'a page of nothing but advertisements has no results')
})

const LINKS: Array<[href: string, url: string | undefined]> = [
  [redirecting('https://a.example/?q=a%20b&c=d#e'), 'https://a.example/?q=a%20b&c=d#e'],
  ['/l/?uddg=http%3A%2F%2Fa.example%2F', 'http://a.example/'],
  ['https://duckduckgo.com/l/?rut=1&amp;uddg=https%3A%2F%2Fa.example%2F', 'https://a.example/'],
  [
    'https://other.example/l/?uddg=https%3A%2F%2Fa.example%2F',
    'https://other.example/l/?uddg=https%3A%2F%2Fa.example%2F'
  ],
  [
    'https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F',
    'https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F'
  ],
  ['https://münchen.example/ä b', 'https://xn--mnchen-3ya.example/%C3%A4%20b'],
  [redirecting('javascript:alert(1)'), undefined],
  [redirecting('file:///etc/passwd'), undefined],
  [redirecting('data:text/html,x'), undefined],
  [redirecting('/relative'), undefined],
  ['//duckduckgo.com/l/?rut=1', undefined],
  ['//duckduckgo.com/l/?uddg=', undefined],
  ['//duckduckgo.com/l/?uddg=%E0%A4%A', undefined],
  ['javascript:alert(1)', undefined],
  ['https://', undefined],
  ['', undefined]
]
for (const [href, url] of LINKS) {
  t.test(`the link ${href} ${url === undefined ? 'is not a result' : `leads to ${url}`}`, async t => {
    const results = read(page(result('It', href, 's'), result('Other', 'https://other.example/')))
    t.strictSame(results.map(({ url }) => url), [...(url === undefined ? [] : [url]), 'https://other.example/'])
  })
}

t.test('a result may have no snippet', async t =>
  t.strictSame(read(page(result('A', 'https://a.example/'))), [{ title: 'A', url: 'https://a.example/', snippet: '' }])
)

t.test('nothing in a result can break a line or steer a terminal', async t => {
  t.match(read(page(result(' A\r\n\tB\u2028C&#27;[31m\u0000 ', 'https://a.example/', 'x&NewLine;&nbsp;y'))), [
    { title: 'A B C [31m', snippet: 'x y' }
  ])
})

t.test('comments, scripts, styles, templates and values of attributes are not results', async t => {
  const fake = result('Fake', 'https://fake.example/')
  const html = page(
    `<!-- ${fake} -->`,
    `<script>document.write('${fake.replaceAll('\n', '')}')</script>`,
    `<style>${fake}</style>`,
    `<template>${fake}</template>`,
    `<textarea>${fake}</textarea>`,
    `<div title='${fake}'></div>`,
    '<div class="resultant result-x"><a class="result__a" href="https://fake.example/">Fake</a></div>',
    '<div class="result"><span class="result__a" href="https://fake.example/">Fake</span></div>',
    result(
      'Re<!-- > </a> -->al<script>"</a>"</script><style>x</style>',
      'https://real.example/?a=1>2',
      '1 &lt; 2 &amp;lt; <b class="x>y">3</b>'
    )
  )
  t.strictSame(read(html), [{ title: 'Real', url: 'https://real.example/?a=1%3E2', snippet: '1 < 2 &lt; 3' }])
})

t.test('attributes may be in any order, case and quotes', async t => {
  const html =
    '<DIV CLASS=\'x\n result\ty\'><A HREF=https://a.example/ data-x="class=\'result__a\'" CLASS=result__a>A</A><P class = "a  result__snippet">s</P></DIV>'
  t.strictSame(read(html), [{ title: 'A', url: 'https://a.example/', snippet: 's' }])
})

t.test('unclosed markup is read as a browser would', async t => {
  const html = `<div class=results>
    <div class=result><h2><a class=result__a href=https://a.example/>First <b>bold</h2><a class=result__snippet href=x>one
    <div class=result><h2><a class=result__a href=https://b.example/>Second</h2><a class=result__snippet href=x>two <i>too
    <div class=result><h2><a class=result__a href=https://c.example/>Third</h2><a class=result__snippet href=x>three</div></div></div><p`
  t.strictSame(read(html), [
    { title: 'First bold', url: 'https://a.example/', snippet: 'one' },
    { title: 'Second', url: 'https://b.example/', snippet: 'two too' },
    { title: 'Third', url: 'https://c.example/', snippet: 'three' }
  ])
})

t.test('a page that states that nothing was found has no results', async t => t.strictSame(read(noResults), []))

t.test('a page that asks for proof of a person is recognised, and one that only writes about it is not', async t => {
  t.throws(() => read(anomaly), {
    name: 'SearchFailure',
    message: 'The search service asks for proof that a person is searching; try again later'
  })
  t.strictSame(titles(page(result('anomaly-modal', 'https://a.example/', 'class="anomaly-modal"'))), ['anomaly-modal'])
})

const UNKNOWN: Record<string, string> = {
  nothing: '',
  'no HTML': '{"results":[]}',
  'another page': '<html><body><h1>It works!</h1><a href="https://a.example/">a</a></body></html>',
  'a list of results that is empty without saying so': page(),
  'results whose links lead nowhere': page(result('A', 'javascript:alert(1)'))
}
for (const [what, html] of Object.entries(UNKNOWN)) {
  t.test(`${what} is not taken for an empty list`, async t => t.throws(() => read(html), NOT_RESULTS))
}

t.test('a page made to keep the parser busy is refused, or read, soon', async t => {
  const many = Array.from({ length: 3_000 }, (_, index) => `<b a${index}>`).join('')
  const busy = [
    `<p>${many}${'<p>x'.repeat(100_000)}`,
    '<br>'.repeat(500_000),
    '<div>'.repeat(400_000),
    '<p class=result>'.repeat(19_000),
    `<p class=result>${'<i class=result__snippet>'.repeat(19_000)}`
  ]
  for (const html of busy) t.throws(() => read(html), NOT_RESULTS)
  const times = await timesOf(busy)
  t.equal(times.length, busy.length)
  for (const [index, ms] of times.entries()) t.ok(ms < 1_000, `${busy[index]?.slice(0, 30)}… took ${Math.round(ms)} ms`)
  const nested = page(
    `<p class=result><a class=result__a href=https://a.example/>A</a>${'<span class=result__snippet>'.repeat(19_000)}`
  )
  t.match(read(nested), [{ title: 'A', snippet: '' }])
})

t.test('a page that goes deep is read', async t => {
  t.strictSame(titles(`${'<div>'.repeat(19_000)}${result('Deep', 'https://a.example/')}`), ['Deep'])
})

/** The time of the processor that each page takes in a process of its own, without the cost of coverage. */
async function timesOf (pages: string[]): Promise<number[]> {
  const script = `
    import { readResults } from ${JSON.stringify(new URL('../../../system/search/results-page.js', import.meta.url).href)}
    let input = ''
    for await (const chunk of process.stdin) input += chunk
    const times = JSON.parse(input).map(html => {
      const started = process.cpuUsage()
      try { readResults(html, new URL('https://html.duckduckgo.com/html/'), 5) } catch {}
      const { user, system } = process.cpuUsage(started)
      return (user + system) / 1_000
    })
    process.stdout.write(JSON.stringify(times))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(pages))
  return JSON.parse(await text(child.stdout)) as number[]
}
