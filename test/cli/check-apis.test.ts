import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { check } from '../../cli/report/check.js'
import { resolveOptions, type Options } from '../../options.js'
import { folder } from '../support/process.js'
import { apiServer, documentOf } from '../upstreams/openapi/api.js'

/** The report about these servers, from the operations of APIs on, and what else is said. */
async function checked (mcpServers: NonNullable<Options['mcpServers']>) {
  const warnings: string[] = []
  const read = () => resolveOptions({ ephemeral: true, tools: false, mcpServers })
  const { report, mistakes } = await check(read, error => error, sentence => warnings.push(sentence))
  return { lines: report.slice(report.indexOf('  Operations of APIs')).split('\n').filter(line => line !== ''), mistakes, warnings }
}

const get = (operationId: string): object => ({ get: { operationId } })
const url = 'https://api.example.com'

t.test('--check prints each operation of an API with its tool and its tokens', async t => {
  const parameters = [{ name: 'limit', in: 'query', schema: { type: 'integer' } }]
  const place = await folder(t, {
    'pets.json': JSON.stringify(documentOf({
      '/pets': { get: { operationId: 'listPets', summary: 'Lists pets', parameters }, post: { operationId: 'createPet' } },
      '/pets/{id}/toys': get('toys')
    }))
  })
  t.strictSame(await checked({ pets: { openapi: join(place, 'pets.json'), url } }), {
    lines: [
      '  Operations of APIs, and their tools, in tokens:',
      '    GET /pets            pets__listPets 73',
      '    GET /pets/{id}/toys  pets__toys 71'
    ],
    mistakes: [],
    warnings: []
  })
})

t.test('--check prints a hundred operations, and says how many more there are', async t => {
  const paths = Object.fromEntries(Array.from({ length: 1_250 }, (_, index) => [`/p${String(index).padStart(4, '0')}`, get(`o${index}`)]))
  const place = await folder(t, { 'many.json': JSON.stringify(documentOf(paths)) })
  const { lines } = await checked({ many: { openapi: join(place, 'many.json'), url } })
  t.equal(lines.length, 102)
  t.equal(lines.at(-1), '    and 1,150 more; patchbay tools lists them')
})

t.test('--check names a document that cannot be used, and one that is not fetched', async t => {
  const api = await apiServer(t)
  const place = await folder(t, { 'good.json': JSON.stringify(documentOf({ '/pets': get('pets') })), 'broken.json': '{' })
  writeFileSync(join(place, 'long.yaml'), `openapi: 3.0.0\nx: ${'x'.repeat(1_100_000)}\n`)
  const { lines, mistakes } = await checked({
    good: { openapi: join(place, 'good.json'), url },
    broken: { openapi: join(place, 'broken.json'), url },
    long: { openapi: join(place, 'long.yaml'), url },
    far: { openapi: `${api.url}/openapi.json` },
    off: { openapi: `${api.url}/openapi.json`, disabled: true }
  })
  t.match(mistakes, [
    /^upstream broken: its document \(broken\.json\) cannot be used: it is not valid JSON$/,
    /^upstream long: its document \(long\.yaml\) cannot be used: YAML may have at most 1048576 characters, and this has 11000\d\d; save it as JSON, which may be longer \(limit maxApiDocument\)$/
  ])
  t.equal(mistakes.length, 2)
  t.match(lines, [
    /Operations of APIs/,
    /^ {4}GET \/pets {2}good__pets \d+$/,
    /^ {4}those of far are not known yet: its document is at a URL, and nothing is fetched here$/
  ])
  t.equal(lines.length, 3)
  t.equal(api.received.length, 0)
})
