import { join } from 'node:path'
import t from 'tap'
import { programOf, serveEverything } from '../../upstreams/real/everything.js'
import { folder, launch, PROCESSES, type Ended } from '../../support/process.js'

t.test('the command-line client asks servers of others', async t => {
  t.jobs = PROCESSES
  const place = await folder(t, { 'a.txt': 'hello' })
  const run = async (args: string[], server: string[]): Promise<Ended> => {
    const env = { MEMORY_FILE_PATH: join(place, 'memory.jsonl') }
    const launched = launch(t, [...args, '--format', 'text', ...server], { env })
    launched.end()
    return await launched.exit()
  }
  const program = (name: string, ...args: string[]): string[] => ['--', process.execPath, programOf(name), ...args]

  t.test('server-everything', { buffered: true }, async t => {
    const server = program('server-everything', 'stdio')
    t.match(await run(['tools', 'get-sum'], server), { code: 0, stdout: /^get-sum {2}\(Get Sum Tool\)/ })
    t.match(await run(['call', 'get-sum', 'a=2', 'b=40'], server), { code: 0, stdout: 'The sum of 2 and 40 is 42.\n' })
    t.match(await run(['call', 'trigger-elicitation-request'], server), { code: 0, stderr: /declined, because this is no terminal/ })
    t.match(await run(['prompt', 'args-prompt', 'city=Paris'], server), { code: 0, stdout: "user: What's weather in Paris?\n" })
    t.match(await run(['read', 'demo://resource/dynamic/text/1'], server), { code: 0, stdout: /Resource 1/ })
  })

  for (const transport of ['sse', 'streamableHttp'] as const) {
    t.test(`server-everything over ${transport}`, { buffered: true }, async t => {
      const server = ['--url', await serveEverything(t, transport)]
      t.match(await run(['call', 'get-sum', 'a=2', 'b=40'], server), { code: 0, stdout: 'The sum of 2 and 40 is 42.\n' })
    })
  }

  t.test('server-filesystem', { buffered: true }, async t => {
    const server = program('server-filesystem', place)
    t.match(await run(['call', 'read_text_file', `path=${join(place, 'a.txt')}`], server), { code: 0, stdout: 'hello\n' })
    t.match(await run(['call', 'read_text_file', 'path=/etc/passwd'], server), { code: 1, stdout: /Access denied/ })
  })

  t.test('server-memory', { buffered: true }, async t => {
    const server = program('server-memory')
    const entity = '{"name":"Ada","entityType":"person","observations":["writes"]}'
    t.match(await run(['call', 'create_entities', `entities=${entity}`], server), { code: 0, stdout: /"Ada"/ })
    t.match(await run(['call', 'search_nodes', 'query=writes'], server), { code: 0, stdout: /"Ada"/ })
  })
})
