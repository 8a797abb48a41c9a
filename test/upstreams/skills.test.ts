import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient, type FastifyInstance } from '../../app.js'
import { mistakeOfEntry } from '../../protocol/definitions/skill.js'
import { listening } from '../support/gateway.js'
import { folder } from '../support/process.js'
import { inFrontOf } from '../support/upstreams.js'
import { until } from '../support/wait.js'

interface Entry { uri: string, resources: Array<{ uri: string, digest: string }> }

/** A server with the skill `pdf`, whose bytes differ from server to server, and one of its own name. */
async function server (t: Test, own: string): Promise<{ url: string, root: string }> {
  const root = join(await folder(t, {}), 'skills')
  for (const name of ['pdf', own]) {
    mkdirSync(join(root, name, 'inner'), { recursive: true })
    writeFileSync(join(root, name, 'SKILL.md'), `---\nname: ${name}\ndescription: Of ${own}.\n---\n`)
    writeFileSync(join(root, name, 'inner', 'who.txt'), own)
  }
  const { url } = await listening(t, { plugins: [root] })
  return { url: `${url}/mcp`, root }
}

async function front (t: Test): Promise<{ app: FastifyInstance, roots: Record<string, string> }> {
  const [one, two] = await Promise.all([server(t, 'one'), server(t, 'two')])
  const { app } = await inFrontOf(t, { one: { url: one.url }, two: { url: two.url } }, {
    views: { half: { servers: ['two'] } }
  })
  await until(() => app.mcp.skills.uris().length === 4, 'the skills of both')
  return { app, roots: { one: one.root, two: two.root } }
}

t.test('skills of two servers are listed together, and where both have a URI, all of the second have its alias', async t => {
  const { app, roots } = await front(t)
  const client = await createClient(app)
  const list = async (of = client): Promise<Entry[]> => (await of.request('skills/list') as { skills: Entry[] }).skills
  const skills = await list()
  t.strictSame(skills.map(({ uri }) => uri), [
    'skill://one/SKILL.md', 'skill://pdf/SKILL.md', 'skill://two/SKILL.md', 'two+skill://pdf/SKILL.md'
  ])
  for (const { uri, resources } of skills) {
    const who = uri.includes('two') ? 'two' : 'one'
    t.ok(resources.every(file => file.uri.startsWith(uri.replace(/SKILL\.md$/, ''))), 'all are in its folder')
    for (const file of resources) {
      const { contents } = await client.request('resources/read', { uri: file.uri }) as { contents: Array<{ text: string }> }
      t.match(contents[0]?.text, who, file.uri)
    }
    t.match(await client.request('skills/get', { uri }), { skill: { uri, resources } })
    const { resources: inner } = await client.request('resources/directory/read', { uri: uri.replace('SKILL.md', 'inner') }) as
      { resources: object[] }
    t.match(inner, [{ name: 'who.txt', size: 3 }])
  }
  t.match(await client.request('skills/get', { uri: 'one+skill://pdf/SKILL.md' }), { skill: { uri: 'skill://pdf/SKILL.md' } })
  await t.rejects(client.request('resources/read', { uri: 'skill://one/../pdf/inner/who.txt' }))

  const own = await createClient(app, { view: 'two' })
  t.strictSame((await list(own)).map(({ uri }) => uri), ['skill://pdf/SKILL.md', 'skill://two/SKILL.md'])
  t.match(await own.request('resources/read', { uri: 'skill://pdf/inner/who.txt' }), { contents: [{ text: 'two' }] })
  const half = await createClient(app, { view: 'half' })
  t.strictSame((await list(half)).map(({ uri }) => uri), ['skill://two/SKILL.md', 'two+skill://pdf/SKILL.md'])
  await t.rejects(half.request('resources/read', { uri: 'skill://one/inner/who.txt' }))

  writeFileSync(join(roots.two as string, 'two', 'inner', 'who.txt'), 'owt')
  const before = skills[2]?.resources.find(({ uri }) => uri.endsWith('who.txt'))?.digest
  const { skill } = await client.request('skills/get', { uri: 'skill://two/SKILL.md' }) as { skill: Entry }
  t.not(skill.resources.find(({ uri }) => uri.endsWith('who.txt'))?.digest, before, 'skills/get asks the server')
})

t.test('an entry of a server that is no skill is named with its reason', t => {
  const good = {
    uri: 'skill://a/x/SKILL.md',
    frontmatter: { name: 'x', description: 'y' },
    resources: [{ uri: 'skill://a/x/SKILL.md', digest: `sha256:${'0'.repeat(64)}`, size: 1 }]
  }
  const [file] = good.resources
  t.equal(mistakeOfEntry(good), undefined)
  t.equal(mistakeOfEntry({ ...good, resources: 'dynamic' }), undefined)
  for (const [wrong, says] of [
    [{ uri: 'skill://a/x/README.md' }, /does not end in \/SKILL\.md/],
    [{ frontmatter: { name: 'z', description: 'y' } }, /its folder is called "x"/],
    [{ resources: 'all' }, /neither a list nor "dynamic"/],
    [{ resources: [] }, /lack its SKILL\.md/],
    [{ resources: [file, file] }, /is there twice/],
    [{ resources: [{ ...file, digest: 'md5:0' }] }, /has no "uri", "digest" or "size"/],
    [{ resources: [file, { ...file, uri: 'skill://a/y/f' }] }, /not in its folder/],
    [{ resources: [file, { ...file, uri: 'skill://a/x/%2e%2e/f' }] }, /not in its folder/],
    [{ resources: [file, { ...file, uri: 'skill://a/x/..%2ff' }] }, /not in its folder/]
  ] as const) t.match(mistakeOfEntry({ ...good, ...wrong }), says)
  t.end()
})
