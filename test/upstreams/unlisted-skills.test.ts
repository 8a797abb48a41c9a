import t, { type Test } from 'tap'
import { SKILLS } from '../../protocol/definitions/skill.js'
import { gateway } from '../support/gateway.js'
import { FakeUpstream } from './lists/fake-upstream.js'
import { listed, served, type Served } from './lists/served.js'

type Json = Record<string, unknown>

const digest = `sha256:${'0'.repeat(64)}`

/** The entry of a skill with these files, or one whose files only its server knows. */
const entryOf = (name: string, files?: readonly string[]): Json => ({
  uri: `skill://${name}/SKILL.md`,
  frontmatter: { name, description: `About ${name}.` },
  resources: files === undefined
    ? 'dynamic'
    : ['SKILL.md', ...files].map(file => ({ uri: `skill://${name}/${file}`, digest, size: 1 }))
})

const FOLDER = [
  { uri: 'skill://live/a', name: 'a', mimeType: 'inode/directory' },
  { uri: 'skill://other/b', name: 'b', mimeType: 'text/plain' },
  { uri: 'skill://live/c.md', name: 'c.md', mimeType: 'text/markdown', size: 3 },
  'no child'
]

/** A server that lists the skill `live`, and has `hidden`, which it does not list. */
function skillServer (
  alias: string,
  { answers = {}, list = [entryOf('live')], ...more }: { answers?: Json, list?: Json[], pins?: 'hold' } = {}
): FakeUpstream {
  return new FakeUpstream(alias, {
    capabilities: { resources: {}, extensions: { [SKILLS]: { directoryRead: true } } },
    answers: {
      'skills/list': () => ({ skills: list }),
      'skills/get': ({ uri }) => ({ skill: { ...entryOf('hidden', ['a.md']), _meta: { of: alias, asked: uri } } }),
      'resources/directory/read': ({ cursor }) =>
        cursor === undefined ? { resources: FOLDER, nextCursor: 'more' } : { resources: [{ ...FOLDER[0] as Json, name: cursor }] },
      ...answers as object
    }
  }, more)
}

async function ready (t: Test, ...upstreams: FakeUpstream[]): Promise<Served> {
  const all = await served(t, upstreams)
  await all.connect(...upstreams)
  return all
}

const HIDDEN = 'skill://hidden/SKILL.md'

t.test('a skill that a server does not list is got from it, where the URL or the URI names the server', async t => {
  const [one, two] = [skillServer('one'), skillServer('two')]
  const { client } = await ready(t, one, two)
  const [all, own] = [await client(), await client({ view: 'two' })]
  await t.rejects(all.request('resources/read', { uri: 'two+skill://hidden/a.md' }), 'it was not got yet')
  t.match(await own.request('skills/get', { uri: HIDDEN }), {
    skill: { uri: HIDDEN, resources: [{ uri: HIDDEN }, { uri: 'skill://hidden/a.md' }], _meta: { of: 'two', asked: HIDDEN } }
  })
  t.match(await own.request('resources/read', { uri: 'skill://hidden/a.md' }), { contents: [{ text: 'read' }] })

  t.match(await all.request('skills/get', { uri: `two+${HIDDEN}` }), {
    skill: { uri: `two+${HIDDEN}`, resources: [{}, { uri: 'two+skill://hidden/a.md' }], _meta: { of: 'two', asked: HIDDEN } }
  })
  t.match(await all.request('resources/read', { uri: 'two+skill://hidden/a.md' }), { contents: [{ text: 'read' }] })
  t.match(two.connection.of('resources/read').at(-1)?.params, { uri: 'skill://hidden/a.md' })
  await t.rejects(all.request('skills/get', { uri: HIDDEN }), { code: -32602 }, 'it may be of any server')
  t.strictSame(one.connection.of('skills/get'), [], 'the others are not asked')
  for (const uri of ['two+skill://hidden/other.md', `none+${HIDDEN}`]) {
    await t.rejects(all.request('skills/get', { uri }), { code: -32602 }, uri)
  }
})

t.test('a server that lists no skill at all is asked, too, and one that declares none is not', async t => {
  const silent = skillServer('silent', { list: [] })
  const without = new FakeUpstream('without')
  const { client } = await ready(t, silent, without)
  const all = await client()
  t.strictSame((await all.request('skills/list')).skills, [])
  t.match(await all.request('skills/get', { uri: `silent+${HIDDEN}` }), { skill: { uri: `silent+${HIDDEN}` } })
  await t.rejects(all.request('skills/get', { uri: `without+${HIDDEN}` }), { code: -32602 })
  t.strictSame(without.connection.of('skills/get'), [])
})

t.test('what a server answers for a skill that it does not list is checked like an entry of its list', async t => {
  for (const skill of [undefined, entryOf('other', []), { ...entryOf('hidden'), resources: 'all' }]) {
    const { client } = await ready(t, skillServer('one', { answers: { 'skills/get': () => ({ skill }) } }))
    await t.rejects((await client()).request('skills/get', { uri: `one+${HIDDEN}` }), { message: /one.*it answered with/ })
  }
})

t.test('a folder whose files only its server knows is listed by it, page by page, and nothing from elsewhere', async t => {
  const [one, two] = [skillServer('one'), skillServer('two')]
  const { client } = await ready(t, one, two)
  const read = async (uri: string, cursor?: unknown): Promise<Json> =>
    await (await client()).request('resources/directory/read', { uri, ...(cursor !== undefined && { cursor }) })
  const first = await read('two+skill://live')
  t.strictSame(first.resources, [
    { uri: 'two+skill://live/a', name: 'a', mimeType: 'inode/directory' },
    { uri: 'two+skill://live/c.md', name: 'c.md', mimeType: 'text/markdown', size: 3 }
  ])
  t.not(first.nextCursor, 'more', 'the cursor is of this gateway')
  t.match(await read('two+skill://live', first.nextCursor), { resources: [{ name: 'more' }], nextCursor: undefined })
  t.match(two.connection.of('resources/directory/read').map(({ params }) => params), [
    { uri: 'skill://live' }, { uri: 'skill://live', cursor: 'more' }
  ])
  t.match((await read('skill://live')).resources, [{ uri: 'skill://live/a' }, {}])
  await t.rejects(read('skill://live', 'more'), { code: -32602 }, 'of another server')
  const old = await ready(t, skillServer('old', {
    answers: { 'resources/directory/read': undefined }
  }))
  await t.rejects((await old.client()).request('resources/directory/read', { uri: 'skill://live' }), { code: -32602 })
})

t.test('a server that is held to what was accepted is asked for no other skill and no folder', async t => {
  const held = skillServer('held', { pins: 'hold' })
  const { client } = await ready(t, held)
  for (const options of [{}, { view: 'held' }]) {
    const one = await client(options)
    await t.rejects(one.request('skills/get', { uri: `held+${HIDDEN}` }), { code: -32602 })
    await t.rejects(one.request('resources/directory/read', { uri: 'skill://live' }), { code: -32602 })
  }
  t.strictSame([...held.connection.of('skills/get'), ...held.connection.of('resources/directory/read')], [])
})

t.test('pages of one skill have each skill once, local and relayed', async t => {
  const list = ['a', 'b', 'c'].map(name => entryOf(name, ['x.md']))
  const one = skillServer('one', { list })
  const app = await gateway(t, { tools: false, pageSize: 1 })
  const all = await served(t, [one], {}, app)
  await all.connect(one)
  t.strictSame(await listed(await all.client(), 'skills/list', 'skills', 'uri'), list.map(({ uri }) => uri))
})
