import { join } from 'node:path'
import { installPackages } from '../../support/npm-packages.js'

/** A server of npm, and how it is asked. */
export interface NpmServer {
  readonly name: string
  readonly version: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A call: the words, and the end that it has, also where a service behind the server cannot be reached. */
  readonly call: readonly string[]
  readonly code: ReadonlyArray<0 | 1 | 2>
  readonly says: RegExp
  /** A call with a wrong argument, and what is said before anything is sent. */
  readonly wrong: readonly string[]
  readonly refusal: RegExp
  /** What the server answers to `read` and `prompt` besides an empty list. */
  readonly read?: RegExp
  readonly prompt?: RegExp
}

const KEY = 'not-a-real-key-of-this-service'
const AWAY = /fetch failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|failed, reason|Unauthorized|unauthorized|Bad credentials|invalid|error|Error/

/** `place` is a folder with a note. */
export const serversFor = (place: string): NpmServer[] => [
  {
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    call: ['get-sum', 'a=2', 'b=40'],
    code: [0],
    says: /is 42\./,
    wrong: ['get-sum', 'a=2', 'b=forty'],
    refusal: /argument b must be a number, not "forty"/,
    read: /"demo:/,
    prompt: /"args-prompt"/
  },
  {
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    args: [place],
    call: ['read_text_file', `path=${join(place, 'note.md')}`],
    code: [0],
    says: /a note about tea/,
    wrong: ['read_text_file'],
    refusal: /path .*is missing/
  },
  {
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    env: { MEMORY_FILE_PATH: join(place, 'memory.jsonl') },
    call: ['create_entities', 'entities=[{"name":"Ada","entityType":"person","observations":["writes"]}]'],
    code: [0],
    says: /Ada/,
    wrong: ['create_entities', 'entities=no'],
    refusal: /entities/
  },
  {
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    call: ['sequentialthinking', 'thought=x', 'thoughtNumber=1', 'totalThoughts=1', 'nextThoughtNeeded=false'],
    code: [0],
    says: /"thoughtHistoryLength":1/,
    wrong: ['sequentialthinking', 'thought=x', 'thoughtNumber=one', 'totalThoughts=1', 'nextThoughtNeeded=false'],
    refusal: /thoughtNumber must be an? .*"one"/
  },
  {
    name: '@modelcontextprotocol/server-postgres',
    version: '0.6.2',
    args: ['postgresql://127.0.0.1:1/shop'],
    call: ['query', 'sql=select 1'],
    code: [2],
    says: /the server answered with error -32603: connect ECONNREFUSED/,
    wrong: ['query', 'sqll=select 1'],
    refusal: /sqll|sql .*is missing/
  },
  remote('@modelcontextprotocol/server-github', '2025.4.8', 'GITHUB_PERSONAL_ACCESS_TOKEN', ['search_repositories', 'query=x'], ['search_repositories', 'page=1'], /query .*is missing/),
  remote('@modelcontextprotocol/server-gitlab', '2025.4.25', 'GITLAB_PERSONAL_ACCESS_TOKEN', ['search_repositories', 'search=x'], ['search_repositories', 'page=two'], /page must be a number/),
  remote('@modelcontextprotocol/server-brave-search', '0.6.2', 'BRAVE_API_KEY', ['brave_web_search', 'query=x'], ['brave_web_search', 'query=x', 'count=many'], /count must be a number/),
  {
    ...remote('@modelcontextprotocol/server-slack', '2025.4.25', 'SLACK_BOT_TOKEN', ['slack_list_channels', 'limit=1'], ['slack_list_channels', 'limit=few'], /limit must be a number/),
    env: { SLACK_BOT_TOKEN: KEY, SLACK_TEAM_ID: 'T1' }
  },
  {
    name: 'mcp-server-code-runner',
    version: '0.1.8',
    call: ['run-code', 'languageId=javascript', 'code=console.log(6 * 7)'],
    code: [0],
    says: /42/,
    wrong: ['run-code', 'languageId=klingon', 'code=x'],
    refusal: /languageId must be one of/
  },
  remote('@upstash/context7-mcp', '4.1.1', 'CONTEXT7_API_KEY', ['resolve-library-id', 'query=x', 'libraryName=react'], ['resolve-library-id', 'query=x'], /libraryName .*is missing/),
  remote('@notionhq/notion-mcp-server', '2.5.2', 'NOTION_TOKEN', ['API-get-self'], ['API-get-user'], /user_id .*is missing/),
  remote('tavily-mcp', '0.2.22', 'TAVILY_API_KEY', ['tavily_search', 'query=x'], ['tavily_search', 'query=x', 'max_results=some'], /max_results must be a number/),
  {
    name: 'mcp-fetch-server',
    version: '1.1.2',
    call: ['fetch_txt', 'url=http://127.0.0.1:1/'],
    code: [1],
    says: /blocked request to private address/,
    wrong: ['fetch_txt'],
    refusal: /url .*is missing/
  },
  {
    name: 'time-mcp',
    version: '1.0.6',
    call: ['days_in_month', 'date=2024-02-01'],
    code: [0],
    says: /29/,
    wrong: ['convert_time', 'sourceTimezone=Europe/Rome'],
    refusal: /targetTimezone .* are missing/
  },
  remote('airtable-mcp-server', '1.14.0', 'AIRTABLE_API_KEY', ['list_bases'], ['describe_table', 'baseId=x'], /tableId .*is missing/),
  {
    name: 'mcp-obsidian',
    version: '1.0.0',
    args: [place],
    call: ['search_notes', 'query=note'],
    // It looks for its folder in small letters, which the one of a test may not have.
    code: [0, 1],
    says: /note\.md|ENOENT/,
    wrong: ['search_notes'],
    refusal: /query .*is missing/
  },
  {
    name: '@kimtaeyoon83/mcp-server-youtube-transcript',
    version: '0.1.1',
    call: ['get_transcript', 'url=https://youtu.be/dQw4w9WgXcQ', 'lang=en'],
    code: [0, 1, 2],
    says: /./,
    wrong: ['get_transcript', 'url=x'],
    refusal: /lang .*is missing/
  }
]

/** A server in front of a service that has no such key, or that cannot be reached. */
function remote (
  name: string,
  version: string,
  variable: string,
  call: readonly string[],
  wrong: readonly string[],
  refusal: RegExp
): NpmServer {
  return { name, version, env: { [variable]: KEY }, call, code: [0, 1, 2], says: AWAY, wrong, refusal }
}

/** Installs these servers, as `installPackages` does; gives the program of each. */
export async function installServers (servers: readonly NpmServer[]): Promise<(server: NpmServer) => string> {
  const programOf = await installPackages('servers', servers.map(({ name, version }) => `${name}@${version}`))
  return ({ name }) => programOf(name)
}
