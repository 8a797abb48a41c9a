import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, resource, type Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { folder } from '../../support/process.js'
import { ERAS, Speaker } from '../../support/speaker.js'

const skillText = (name: string, more = ''): string => `---\nname: ${name}\ndescription: Knows ${name}.\n${more}---\n# ${name}\n`

/** A folder of skills: paths and their bytes. */
async function skillsIn (t: Test, files: Record<string, string | Buffer>): Promise<string> {
  const root = await folder(t, {})
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), bytes)
  }
  return root
}

const PDF = {
  'skills/pdf/SKILL.md': skillText('pdf', 'metadata:\n  pages: 3\n'),
  'skills/pdf/lines.txt': 'one\r\ntwo\r\n',
  'skills/pdf/marked.txt': '\uFEFFmarked',
  'skills/pdf/empty.txt': '',
  'skills/pdf/deep/er/bytes.bin': Buffer.from([0, 255, 1]),
  'skills/office/mail/SKILL.md': skillText('mail')
}

interface File { uri: string, digest: string, size: number }
interface Entry { uri: string, frontmatter: Record<string, unknown>, resources: File[] }

async function serving (t: Test, files: Record<string, string | Buffer>, options: Partial<Options> = {}) {
  const root = await skillsIn(t, files)
  const lines: string[] = []
  const app = await gateway(t, { tools: false, http: false, ephemeral: true, plugins: [root], ...options }, {
    logger: { level: 'warn', stream: { write: line => { lines.push((JSON.parse(line) as { msg: string }).msg) } } }
  })
  return { app, root, lines, client: await createClient(app) }
}

type Client = Awaited<ReturnType<typeof createClient>>

const list = async (client: Client): Promise<Entry[]> =>
  (await client.request('skills/list') as { skills: Entry[] }).skills
const get = async (client: Client, uri: string): Promise<Entry> =>
  (await client.request('skills/get', { uri }) as { skill: Entry }).skill

async function bytesOf (client: Client, uri: string): Promise<Buffer> {
  const { contents: [part] } = await client.request('resources/read', { uri }) as
    { contents: Array<{ text?: string, blob?: string }> }
  return part?.text === undefined ? Buffer.from(part?.blob ?? '', 'base64') : Buffer.from(part.text)
}

t.test('folders with a SKILL.md are listed with all of their files, by the digests of what is read', async t => {
  const { client } = await serving(t, PDF)
  const skills = await list(client)
  t.strictSame(skills.map(({ uri }) => uri), ['skill://office/mail/SKILL.md', 'skill://pdf/SKILL.md'])
  const pdf = skills[1] as Entry
  t.strictSame(pdf.frontmatter, { name: 'pdf', description: 'Knows pdf.', metadata: { pages: 3 } })
  t.strictSame(
    pdf.resources.map(({ uri }) => uri.slice('skill://pdf/'.length)),
    ['SKILL.md', 'deep/er/bytes.bin', 'empty.txt', 'lines.txt', 'marked.txt']
  )
  for (const { uri, digest, size } of pdf.resources) {
    const bytes = await bytesOf(client, uri)
    t.equal(bytes.length, size, uri)
    t.equal(digest, `sha256:${createHash('sha256').update(bytes).digest('hex')}`, uri)
  }
  t.strictSame(await get(client, pdf.uri), pdf)
})

t.test('SKILL.md is a resource with the name and description of its frontmatter, and the other files are not listed', async t => {
  const { client } = await serving(t, PDF)
  const { resources } = await client.request('resources/list') as { resources: object[] }
  t.strictSame(resources, [
    { uri: 'skill://office/mail/SKILL.md', name: 'mail', description: 'Knows mail.', mimeType: 'text/markdown' },
    { uri: 'skill://pdf/SKILL.md', name: 'pdf', description: 'Knows pdf.', mimeType: 'text/markdown' }
  ])
})

t.test('folders of a skill are read, page by page, and nothing else is', async t => {
  const { client, root } = await serving(t, PDF, { pageSize: 2 })
  mkdirSync(join(root, 'skills/pdf/hollow'))
  const read = async (uri: string, cursor?: string) =>
    await client.request('resources/directory/read', { uri, cursor }) as { resources: File[], nextCursor?: string }
  const names: string[] = []
  let cursor: string | undefined
  do {
    const page = await read('skill://pdf', cursor)
    names.push(...page.resources.map(({ uri }) => uri))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  t.strictSame(names, ['SKILL.md', 'deep', 'empty.txt', 'hollow', 'lines.txt', 'marked.txt'].map(name => `skill://pdf/${name}`))
  t.match((await read('skill://pdf')).resources[1], { name: 'deep', mimeType: 'inode/directory' })
  t.strictSame(await read('skill://pdf/hollow'), { resources: [] })
  for (const uri of ['skill://pdf/SKILL.md', 'skill://pdf/', 'skill://pdf/none', 'skill://pdf/deep/..', 'skill://office', '']) {
    await t.rejects(read(uri), { code: -32602, message: /Not the folder of a skill/ }, uri)
  }
  const { nextCursor } = await read('skill://pdf')
  await t.rejects(read('skill://pdf/deep', nextCursor), { code: -32602 }, 'a cursor is of one folder')
})

t.test('a changed file has another digest in the next answer, and a broken skill is gone until it is mended', async t => {
  const { client, root, lines, app } = await serving(t, PDF)
  const file = join(root, 'skills/pdf/lines.txt')
  const digestOf = async (): Promise<string | undefined> =>
    (await get(client, 'skill://pdf/SKILL.md')).resources.find(({ uri }) => uri.endsWith('lines.txt'))?.digest
  const before = await digestOf()
  writeFileSync(file, 'two\r\none\r\n')
  const after = await digestOf()
  t.not(after, before, 'of the same length, a moment later')
  writeFileSync(join(root, 'skills/pdf/new.txt'), 'new')
  t.equal((await list(client))[1]?.resources.length, 6)
  t.equal(String(await bytesOf(client, 'skill://pdf/new.txt')), 'new')

  writeFileSync(join(root, 'skills/pdf/SKILL.md'), '# nothing')
  t.equal((await list(client)).length, 1)
  await t.rejects(get(client, 'skill://pdf/SKILL.md'), { code: -32602, message: /Unknown skill/ })
  await t.rejects(bytesOf(client, 'skill://pdf/lines.txt'), /Resource not found/)
  t.match(lines.at(-1), /skills\/pdf is not served: its SKILL\.md has to begin with frontmatter/)
  t.match(app.mcp.health.now(), { status: 'degraded', parts: { skills: /the log says why: pdf/ } })

  writeFileSync(join(root, 'skills/pdf/SKILL.md'), skillText('pdf', 'license: MIT\n'))
  t.match((await list(client))[1]?.frontmatter, { license: 'MIT' })
  t.equal(app.mcp.health.now().status, 'healthy')
})

t.test('no path leads out of the folder of a skill', async t => {
  const { app, client, root, lines } = await serving(t, { ...PDF, 'outside.txt': 'secret' })
  symlinkSync(join(root, 'outside.txt'), join(root, 'skills/pdf/link.txt'))
  symlinkSync(root, join(root, 'skills/pdf/up'))
  t.equal((await get(client, 'skill://pdf/SKILL.md')).resources.length, 5, 'links are left out')
  t.match(lines.at(-1), /served without link\.txt, up/)
  const paths = [
    'link.txt', 'up/outside.txt', '../../outside.txt', '%2e%2e/%2e%2e/outside.txt', '..%2f..%2foutside.txt', 'a\0', 'a%00',
    'lines.txt/', './lines.txt', 'LINES.TXT', 'lines.txt?x', '..\\..\\outside.txt', ''
  ]
  const modern = new Speaker(app, { version: '2026-07-28' })
  for (const path of paths) {
    await t.rejects(bytesOf(client, `skill://pdf/${path}`), /Resource not found/, path)
    t.equal((await modern.request('resources/read', { uri: `skill://pdf/${path}` })).error.code, -32602, path)
  }
})

const BROKEN: Array<[what: string, files: Record<string, string | Buffer>, says: RegExp]> = [
  ['another name than its folder', { 'SKILL.md': skillText('y') }, /"name" in its frontmatter is "y", and its folder is called "x"/],
  ['a name with capitals', { 'SKILL.md': skillText('Xy') }, /must be 1 to 64 of a-z 0-9/],
  ['no description', { 'SKILL.md': '---\nname: x\n---\n' }, /needs a "description"/],
  ['YAML that cannot be read', { 'SKILL.md': '---\nname: x\n  bad: [\n---\n' }, /frontmatter of its SKILL\.md cannot be read: .*\(line \d\)/],
  ['a list as frontmatter', { 'SKILL.md': '---\n- x\n---\n' }, /frontmatter is not a list of names and values/],
  ['a number that JSON has not', { 'SKILL.md': skillText('x', 'size: .inf\n') }, /"size" in its frontmatter is no number/],
  ['bytes that are no text', { 'SKILL.md': Buffer.from([0x2d, 0xff]) }, /not text in UTF-8/],
  ['frontmatter without an end', { 'SKILL.md': '---\nname: x\n' }, /has to begin with frontmatter/],
  ['too many files', Object.fromEntries([['SKILL.md', skillText('x')], ...Array.from({ length: 512 }, (_, i) => [`${i}`, ''])]), /more than 512 files/],
  ['too many bytes', { 'SKILL.md': skillText('x'), big: Buffer.alloc(16 * 1024 * 1024) }, /more than 16777216 bytes/]
]

for (const [what, files, says] of BROKEN) {
  t.test(`a skill with ${what} is reported at the start, and not served`, async t => {
    const inFolder = Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`skills/x/${path}`, bytes]))
    const { client, lines, app } = await serving(t, { ...PDF, ...inFolder })
    t.equal((await list(client)).length, 2)
    t.match(lines, [says])
    t.match(app.mcp.health.now().parts, { skills: /the log says why: x/ })
  })
}

t.test('without a skill there is neither the extension nor its methods', async t => {
  const app = await gateway(t, { http: false, ephemeral: true })
  for (const version of ERAS) {
    const speaker = new Speaker(app, { version })
    for (const method of ['skills/list', 'skills/get', 'resources/directory/read']) {
      t.match(await speaker.request(method, { uri: 'skill://x/SKILL.md' }), { error: { code: -32601 } }, `${version} ${method}`)
    }
  }
  const { capabilities } = (await new Speaker(app, { version: '2026-07-28' }).request('server/discover', {})).result as
    { capabilities: { extensions?: object } }
  t.notMatch(capabilities.extensions ?? {}, { 'io.modelcontextprotocol/skills': {} })
})

t.test('every revision has them, and only the stateless one how long they may be kept', async t => {
  const { app } = await serving(t, PDF)
  for (const version of ERAS) {
    const speaker = new Speaker(app, { version })
    const opening = version === '2026-07-28' ? await speaker.request('server/discover', {}) : await initialized(app, version)
    t.match(opening, { result: { capabilities: { extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } } } } }, version)
    const { result } = await speaker.request('skills/list', {})
    t.equal((result.skills as object[]).length, 2, version)
    t.equal(result.ttlMs, version === '2026-07-28' ? 0 : undefined, version)
    t.match(await speaker.request('skills/get', { uri: 'skill://none/SKILL.md' }), { error: { code: -32602 } })
  }
})

const initialized = async (app: FastifyInstance, protocolVersion: string) =>
  await new Speaker(app, { version: protocolVersion }).request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } })

t.test('a skill is in a view with all of its files if its SKILL.md is, and otherwise unknown', async t => {
  const { app } = await serving(t, PDF, {
    views: { pdf: { resources: ['skill://pdf/SKILL.md'] }, mail: { exclude: ['skill://pdf/*'] }, none: { tools: ['x'] } }
  })
  for (const [view, has] of [['pdf', ['skill://pdf/SKILL.md']], ['mail', ['skill://office/mail/SKILL.md']], ['none', []]] as const) {
    const client = await createClient(app, { view })
    t.strictSame((await list(client)).map(({ uri }) => uri), has, view)
    const outcome = has[0] === 'skill://pdf/SKILL.md' ? 'resolves' : 'rejects'
    await t[outcome](client.request('skills/get', { uri: 'skill://pdf/SKILL.md' }), view)
    await t[outcome](client.request('resources/read', { uri: 'skill://pdf/lines.txt' }), view)
    await t[outcome](client.request('resources/directory/read', { uri: 'skill://pdf/deep' }), view)
  }
})

t.test('scopes of SKILL.md hold for the skill and all of its files', async t => {
  const { app } = await serving(t, PDF, { scopes: { 'resources/skill://pdf/SKILL.md': ['secret'] } })
  for (const scopes of [['mcp'], ['mcp', 'secret']]) {
    const client = await createClient(app, { identity: { principal: scopes.join(), scopes: new Set(scopes) } })
    const isOwner = scopes.length > 1
    t.equal((await list(client)).length, isOwner ? 2 : 1)
    const outcome = isOwner ? 'resolves' : 'rejects'
    await t[outcome](client.request('skills/get', { uri: 'skill://pdf/SKILL.md' }))
    await t[outcome](client.request('resources/read', { uri: 'skill://pdf/lines.txt' }))
    await t[outcome](client.request('resources/directory/read', { uri: 'skill://pdf' }))
  }
})

t.test('code adds and removes a skill, and a mistake rejects with a sentence', async t => {
  const { app, root, client } = await serving(t, { ...PDF, 'x/SKILL.md': skillText('x'), 'y/SKILL.md': 'y', 'z/SKILL.md': skillText('z') }, { plugins: [] })
  await t.rejects(client.request('skills/list'), { code: -32601 })
  t.equal(await app.mcp.skills.add(join(root, 'x'), { path: 'team/a' }), 'skill://team/a/x/SKILL.md')
  t.strictSame((await list(client)).map(({ uri }) => uri), ['skill://team/a/x/SKILL.md'])
  await t.rejects(app.mcp.skills.add(join(root, 'x'), { path: 'team/a' }), /there is a skill skill:\/\/team\/a\/x\/SKILL\.md already/)
  await t.rejects(app.mcp.skills.add(join(root, 'y')), /skill \/.*\/y: its SKILL\.md has to begin with frontmatter/)
  await t.rejects(app.mcp.skills.add(join(root, 'none')), /it is not a folder that can be read/)
  app.mcp.resources.add(resource({ uri: 'skill://z/SKILL.md', name: 'z', read: () => 'z' }))
  await t.rejects(app.mcp.skills.add(join(root, 'z')), /there is a resource skill:\/\/z\/SKILL\.md already/)
  t.ok(app.mcp.skills.remove('skill://team/a/x/SKILL.md'))
  t.notOk(app.mcp.skills.remove('skill://team/a/x/SKILL.md'))
  t.strictSame(await list(client), [])
  t.strictSame((await client.request('resources/list') as { resources: object[] }).resources.length, 1)
})

t.test('a folder that is gone takes its skill with it', async t => {
  const { root, client } = await serving(t, PDF)
  rmSync(join(root, 'skills/pdf'), { recursive: true })
  t.strictSame((await list(client)).map(({ uri }) => uri), ['skill://office/mail/SKILL.md'])
})

t.test('a rule about one file of a skill is about that file', async t => {
  const { client } = await serving(t, PDF, { rules: [{ deny: ['skill://pdf/deep/*'] }, { deny: ['skill://office/*'] }] })
  t.equal((await bytesOf(client, 'skill://pdf/lines.txt')).toString(), 'one\r\ntwo\r\n')
  for (const uri of ['skill://pdf/deep/er/bytes.bin', 'skill://office/mail/SKILL.md']) {
    await t.rejects(client.request('resources/read', { uri }), { message: /^Resource not found/ }, uri)
  }
})
