import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { installPackages, Unreachable } from '../../support/npm-packages.js'
import { folder, launch, type Ended } from '../../support/process.js'

interface Server {
  readonly package: string
  readonly accepted: string
  readonly later: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** How lines of `pins verify` begin. */
  readonly verify: readonly string[]
  /** Whole lines of `pins diff`. */
  readonly diff: readonly string[]
}

const SERVERS: Readonly<Record<string, Server>> = {
  files: {
    package: '@modelcontextprotocol/server-filesystem',
    accepted: '2025.7.1',
    later: '2026.8.31',
    args: ['.'],
    verify: [
      'tool "list_allowed_directories" changed (harmless to calls): description has another text; title is new',
      'tool "read_file" changed (breaking): inputSchema/required "path" is required now; description has another text',
      'tool "read_text_file" is new and was never accepted'
    ],
    diff: [
      '    harmless: annotations/readOnlyHint was false and is true',
      '      +Read the complete contents of a file as text. DEPRECATED: Use read_text_file instead.'
    ]
  },
  memory: {
    package: '@modelcontextprotocol/server-memory',
    accepted: '2025.4.25',
    later: '2026.8.31',
    verify: [
      'tool "delete_entities" changed (harmless to calls): title is new; annotations/idempotentHint was false and is true',
      'resource "memory://knowledge-graph" is new and was never accepted'
    ],
    diff: [
      '      +Read Graph',
      '    harmless: annotations/destructiveHint means true, as before',
      '    harmless: outputSchema is new'
    ]
  },
  thinking: {
    package: '@modelcontextprotocol/server-sequential-thinking',
    accepted: '2025.7.1',
    later: '2026.8.31',
    verify: ['tool "sequentialthinking" changed (harmless to calls): description has another text; title is new'],
    diff: [
      '      -11. Only set next_thought_needed to false when truly done and a satisfactory answer is reached',
      '      +11. Only set nextThoughtNeeded to false when truly done and a satisfactory answer is reached',
      '    harmless: inputSchema/properties/isRevision/type allows "string", too'
    ]
  },
  everything: {
    package: '@modelcontextprotocol/server-everything',
    accepted: '2025.7.1',
    later: '2026.8.31',
    args: ['stdio'],
    verify: [
      'instructions changed (harmless to calls): instructions has another text',
      'tool "get-env" is new and was never accepted',
      'tool "printEnv" is gone (breaking)',
      'prompt "simple_prompt" is gone (breaking)',
      'resource "test://static/resource/1" is gone (harmless to calls)',
      'resource template "test://static/resource/{id}" is gone (breaking)'
    ],
    diff: ['    +   "name": "get-env",']
  },
  tavily: {
    package: 'tavily-mcp',
    accepted: '0.2.9',
    later: '0.2.22',
    env: { TAVILY_API_KEY: 'not-a-real-key' },
    verify: ['tool "tavily-search" is gone (breaking)', 'tool "tavily_search" is new and was never accepted'],
    diff: ['    +   "name": "tavily_research",']
  },
  context7: {
    package: '@upstash/context7-mcp',
    accepted: '2.0.0',
    later: '4.1.1',
    verify: [
      'instructions changed (harmless to calls): instructions has another text',
      'tool "query-docs" changed (harmless to calls): description has another text'
    ],
    diff: ['      +Do not call this tool more than 3 times per question.']
  },
  notion: {
    package: '@notionhq/notion-mcp-server',
    accepted: '2.0.0',
    later: '2.5.2',
    env: { NOTION_TOKEN: 'not-a-real-token' },
    verify: [
      'tool "API-create-a-comment" changed (harmless to calls): inputSchema/properties/parent/anyOf allows {"type":"string"}, too',
      'tool "API-get-self" changed (breaking): inputSchema/properties/Notion-Version is gone; annotations/title is new',
      'tool "API-move-page" changed (breaking): inputSchema/$defs/movePageParentRequest/oneOf/0/properties/type/const was absent and is "page_id"',
      'tool "API-update-page-markdown" is new and was never accepted'
    ],
    diff: ['    harmless: inputSchema/$defs/parentRequest/oneOf/2/properties/type/const was absent and is "workspace", where no reference leads']
  },
  playwright: {
    package: '@playwright/mcp',
    accepted: '0.0.56',
    later: '0.0.83',
    args: ['--headless'],
    verify: [
      'tool "browser_click" changed (breaking): inputSchema/properties/ref is gone; inputSchema/required "target" is required now',
      'tool "browser_navigate_back" changed (harmless to calls): description has another text',
      'tool "browser_run_code" is gone (breaking)',
      'tool "browser_run_code_unsafe" is new and was never accepted'
    ],
    diff: ['      -Go back to the previous page', '      +Go back to the previous page in the history']
  }
}

/** Schemas also depend on the libraries of a server: they are as old as this day. */
const BEFORE = '2026-10-31'
/** Some servers use it without naming it, and get the newest when they are installed alone. */
const SHARED = ['zod@4.6.7']
const PAGE = readFileSync(new URL('../../../../docs/pins.md', import.meta.url), 'utf8')

/** The programs of both versions; undefined where the registry cannot be reached, which is said aloud. */
async function install (t: Test): Promise<((alias: string) => string) | undefined> {
  const packages = Object.entries(SERVERS).flatMap(([alias, server]) => [
    `accepted-${alias}@npm:${server.package}@${server.accepted}`,
    `later-${alias}@npm:${server.package}@${server.later}`
  ])
  try {
    return await installPackages('versions', [...SHARED, ...packages], BEFORE)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    t.comment(`NOT TESTED: versions of servers of npm, because the registry cannot be reached: ${error.message}`)
    process.stderr.write('NOT TESTED: pins of servers of npm; the registry of npm cannot be reached\n')
    return undefined
  }
}

/** The lines about each server in a report, without its first. */
function linesByServer (report: string): Record<string, { heading: string, lines: string[] }> {
  const found: Record<string, { heading: string, lines: string[] }> = {}
  let lines: string[] = []
  for (const line of report.split('\n')) {
    const [, alias] = /^(\w+): /.exec(line) ?? []
    if (alias === undefined) lines.push(line)
    else found[alias] = { heading: line, lines: lines = [] }
  }
  return found
}

t.test('pins name what changed between two versions of real servers of npm', { timeout: 900_000 }, async t => {
  const programOf = await install(t)
  if (programOf === undefined) return
  const path = await folder(t, {})
  const use = async (version: 'accepted' | 'later'): Promise<void> => {
    const mcpServers = Object.fromEntries(Object.entries(SERVERS).map(([alias, { args = [], env = {} }]) =>
      [alias, { command: process.execPath, args: [programOf(`${version}-${alias}`), ...args], env, cwd: path }]))
    await writeFile(join(path, 'patchbay.json'), JSON.stringify({ mcpServers }))
  }
  const pins = async (action: string): Promise<Ended> =>
    await launch(t, ['pins', action, '--data', join(path, 'data'), '--config', 'patchbay.json'], { cwd: path }).exit()

  await use('accepted')
  t.match(await pins('accept'), { code: 0, stderr: '' })
  t.match(await pins('verify'), { code: 0, stderr: '' })
  const lock = await readFile(join(path, 'patchbay.lock'), 'utf8')
  await use('later')
  const [different, verified] = [await pins('diff'), await pins('verify')]
  t.match([different, verified], [{ code: 0, stderr: '' }, { code: 1, stderr: '' }])
  t.equal(await readFile(join(path, 'patchbay.lock'), 'utf8'), lock)
  const [whole, sentences] = [linesByServer(different.stdout), linesByServer(verified.stdout)]

  for (const [alias, server] of Object.entries(SERVERS)) {
    t.test(`${server.package} ${server.accepted} and ${server.later}`, async t => {
      const { heading = '', lines = [] } = sentences[alias] ?? {}
      for (const text of server.verify) t.ok(lines.some(line => line.startsWith(`  ${text}`)), `${text}\n${lines.join('\n')}`)
      for (const line of server.diff) t.ok(whole[alias]?.lines.includes(line), line)
      const [, count, breaking = '0'] = /: (\d+) differences?, (?:(\d+)|none of them) breaking, /.exec(heading) ?? []
      const row = `| \`${server.package}\` | ${server.accepted} | ${server.later} | ${count} | ${breaking} |`
      t.ok(PAGE.includes(row), `docs/pins.md has the row ${row}`)
    })
  }

  t.test('docs/pins.md prints a part of it', async t => {
    const examples = [...PAGE.slice(PAGE.indexOf('## An example')).matchAll(/```text\n([^]*?)```/g)].map(([, text = '']) => text)
    t.equal(examples.length, 2)
    for (const [index, { heading = '', lines = [] } = {}] of [whole.playwright, sentences.playwright].entries()) {
      const printed = (examples[index] ?? '').trimEnd().split('\n').filter(line => line.trim() !== '…')
      t.ok(printed.length > 3)
      for (const line of printed) t.ok([heading, ...lines].includes(line), line)
    }
  })
})
