import t from 'tap'
import { isTemplate, uriTemplate, type Variables } from '../../../protocol/definitions/uri-template.js'
import { cpuTime } from '../../support/timing.js'

const match = (template: string, uri: string): Variables | undefined => uriTemplate(template).match(uri)

const MATCHES: Array<[operator: string, template: string, uri: string, expected: Variables]> = [
  ['simple', 'note:///{id}', 'note:///7', { id: '7' }],
  ['simple, two variables', 'geo:{lat},{long}', 'geo:45.4,12.3', { lat: '45.4', long: '12.3' }],
  ['simple, a list of variables', 'geo:{lat,long}', 'geo:45.4,12.3', { lat: '45.4', long: '12.3' }],
  ['simple, fewer values than variables', 'geo:{lat,long}', 'geo:45.4', { lat: '45.4' }],
  ['reserved', 'file:///{+path}', 'file:///a/b/c.txt', { path: 'a/b/c.txt' }],
  [
    'reserved, a path with everything in it',
    'file:///x/{+path}',
    'file:///x/a,b/c%20d%25%23%3F/%F0%9F%99%82%0A;=&+',
    { path: 'a,b/c d%#?/🙂\n;=&+' }
  ],
  ['reserved before a literal', 'file:///{+path}.txt', 'file:///a.txt/b.txt', { path: 'a.txt/b' }],
  ['reserved before a variable', 'db://{+table}/rows/{id}', 'db://a/b/rows/3', { table: 'a/b', id: '3' }],
  ['fragment', 'doc://book{#section}', 'doc://book#intro/2', { section: 'intro/2' }],
  ['fragment left out', 'doc://book{#section}', 'doc://book', {}],
  ['label', 'host://www{.domain}', 'host://www.example', { domain: 'example' }],
  ['label, two variables', 'host://www{.name,tld}', 'host://www.example.org', { name: 'example', tld: 'org' }],
  ['path segments', 'repo://x{/owner,name}', 'repo://x/ada/engine', { owner: 'ada', name: 'engine' }],
  ['path-style parameters', 'map://tile{;x,y}', 'map://tile;x=1;y=2', { x: '1', y: '2' }],
  ['path-style parameter without a value', 'map://tile{;x,empty}', 'map://tile;x=1;empty', { x: '1', empty: '' }],
  ['query', 'search://all{?q,lang}', 'search://all?q=fish&lang=en', { q: 'fish', lang: 'en' }],
  ['query in another order', 'search://all{?q,lang}', 'search://all?lang=en&q=fish', { q: 'fish', lang: 'en' }],
  ['query left out', 'search://all{?q,lang}', 'search://all', {}],
  ['query with an empty value', 'search://all{?q}', 'search://all?q=', { q: '' }],
  ['query with an equals sign in the value', 'search://all{?q}', 'search://all?q=a=b', { q: 'a=b' }],
  ['query continued', 'search://all?fixed=1{&q}', 'search://all?fixed=1&q=fish', { q: 'fish' }],
  ['query begun and continued', 'search://all{?q}{&page}', 'search://all?q=fish&page=2', { q: 'fish', page: '2' }],
  ['explode of a simple variable', 'tags://{tag*}', 'tags://red,green', { tag: 'red,green' }],
  ['explode of path segments', 'file://x{/path*}', 'file://x/a/b/c', { path: 'a,b,c' }],
  ['explode of a label', 'host://www{.part*}', 'host://www.example.org', { part: 'example,org' }],
  ['explode of a query', 'search://all{?tag*}', 'search://all?tag=red&tag=green', { tag: 'red,green' }],
  ['prefix', 'dict://{first:1}/{word}', 'dict://f/fish', { first: 'f', word: 'fish' }],
  ['a literal at the end that the value has too', 'note:///{name}.txt', 'note:///a.txt.txt', { name: 'a.txt' }],
  ['percent encoding', 'note:///{id}', 'note:///a%20b%2Fc%C3%A9', { id: 'a b/cé' }],
  ['a plus sign', 'note:///{id}', 'note:///a+b', { id: 'a+b' }]
]

for (const [operator, template, uri, expected] of MATCHES) {
  t.test(`${operator}: ${template} reads ${uri}`, async t => t.strictSame(match(template, uri), expected))
}

const MISMATCHES: Array<[why: string, template: string, uri: string]> = [
  ['another literal', 'note:///{id}', 'memo:///7'],
  ['a literal that is longer', 'note:///{id}/edit', 'note:///7/edits'],
  ['something after the end', 'note:///{id}/edit', 'note:///7/edit/now'],
  ['nothing where a variable is', 'note:///{id}', 'note:///'],
  ['a slash in a simple variable', 'note:///{id}', 'note:///a/b'],
  ['a question mark in a simple variable', 'note:///{id}', 'note:///a?b'],
  ['a fragment in a simple variable', 'note:///{id}', 'note:///a#b'],
  ['more values than variables', 'geo:{lat,long}', 'geo:1,2,3'],
  ['a second segment for a variable that is not exploded', 'file://x{/dir}', 'file://x/a/b'],
  ['a parameter the template does not have', 'search://all{?q}', 'search://all?q=1&admin=1'],
  ['a value longer than the prefix', 'dict://{first:1}', 'dict://fish'],
  ['a percent sign that encodes nothing', 'note:///{id}', 'note:///100%'],
  ['bytes that are not UTF-8', 'note:///{id}', 'note:///%ff'],
  ['the empty string', 'note:///{id}', '']
]

for (const [why, template, uri] of MISMATCHES) {
  t.test(`no match: ${why} (${template}, ${uri})`, async t => t.equal(match(template, uri), undefined))
}

for (const template of [
  'a{',
  'a}',
  '{a',
  'a}b{c',
  '{}',
  '{a{b}}',
  '{,}',
  '{a,}',
  '{a b}',
  '{=a}',
  '{!a}',
  '{@a}',
  '{|a}',
  '{a:}',
  '{a:x}',
  '{a**}',
  '{?}',
  '{a-b}'
]) {
  t.test(`the template ${template} is refused with its own text`, async t => {
    t.throws(() => uriTemplate(template), {
      message: new RegExp(`URI template "${template.replace(/[^\w]/g, '\\$&')}"`)
    })
  })
}

t.test('variables are listed in the order of the template', async t => {
  t.strictSame(uriTemplate('a://{x}/{+y}{?z,w*}{#v:3}').variables, ['x', 'y', 'z', 'w', 'v'])
})

t.test('only a brace makes a template', async t => {
  t.equal(isTemplate('note:///7'), false)
  t.equal(isTemplate('note:///{id}'), true)
})

const EVIL: Array<[template: string, uri: string]> = [
  ['x://{a}{b}{c}{d}{e}{f}y', `x://${'a'.repeat(1e5)}`],
  ['x://{+a}/{+b}/{+c}/{+d}/end', `x://${'/'.repeat(1e5)}`],
  [`x://${'{a}-'.repeat(50)}`, `x://${'-'.repeat(1e5)}`],
  ['x://{/a*}{?b*}{&c*}', `x://${'/?&='.repeat(25_000)}`],
  ['x://{?a}', `x://?${'a=1&'.repeat(25_000)}`],
  ['x://{a}', `x://${'%'.repeat(1e5)}`],
  [`x://${'{+a}-'.repeat(50)}`, `x://${'-'.repeat(2_000)}`],
  ['x://{?a*}', `x://?${'a=1&'.repeat(500)}`]
]

for (const [template, uri] of EVIL) {
  t.test(`${template.slice(0, 30)} answers quickly on ${uri.length} hostile characters`, async t => {
    const { match } = uriTemplate(template)
    const took = cpuTime(() => { for (let round = 0; round < 100; round++) match(uri) })
    t.ok(took < 500, `well under 5 ms each, where backtracking would take minutes: ${took} ms`)
  })
}
