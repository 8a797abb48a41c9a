import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { listening } from '../support/gateway.js'
import { inFrontOf } from '../support/upstreams.js'
import { until } from '../support/wait.js'

const SKILLS = fileURLToPath(new URL('../../../examples/skills', import.meta.url))
const MODES = [{ mode: 'legacy' }, { mode: { pin: '2026-07-28' } }] as const

t.test('the official client lists, verifies and reads skills over HTTP, of our own and of a server behind us', async t => {
  const behind = await listening(t, { plugins: [SKILLS] })
  const front = await inFrontOf(t, { office: { url: `${behind.url}/mcp` } })
  await until(() => front.app.mcp.skills.uris().length > 0, 'the skills of the server')
  for (const url of [`${behind.url}/mcp`, `${front.url}/mcp`, `${front.url}/mcp/office`]) {
    for (const versionNegotiation of MODES) {
      await check(t, new StreamableHTTPClientTransport(new URL(url)), versionNegotiation, url)
    }
  }
})

t.test('the official client lists, verifies and reads skills over stdio', async t => {
  for (const versionNegotiation of MODES) {
    const args = [COMMAND, '--stdio', '--ephemeral', '--plugin', SKILLS]
    await check(t, new StdioClientTransport({ command: process.execPath, args }), versionNegotiation, 'stdio')
  }
})

async function check (
  t: Test,
  transport: Transport,
  versionNegotiation: typeof MODES[number],
  place: string
): Promise<void> {
  const client = new Client({ name: 'judge', version: '1' }, { versionNegotiation })
  t.teardown(async () => await client.close())
  await client.connect(transport)
  const skills = new SkillsClient(client)
  t.ok(skills.supported, `${place}: it is declared`)
  t.ok(skills.directoryRead, place)
  const { skills: [skill] } = await skills.list()
  if (skill === undefined) throw new Error(`${place}: no skill`)
  t.strictSame((await skills.get(skill.uri)).skill, skill, place)
  t.match(await skills.read(skill), { verified: true, frontmatter: { name: 'meeting-notes' } }, place)
  t.match(await skills.read(skill, 'references/template.md'), { verified: true }, place)
  t.match((await skills.readDirectory(skill.uri.replace(/\/SKILL\.md$/, ''))).resources, [{ name: 'SKILL.md' }, { name: 'references' }])
  await client.close()
}
