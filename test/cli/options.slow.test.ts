import { readFileSync } from 'node:fs'
import t from 'tap'
import { ADA, BOB, listed } from '../support/keys.js'
import { folder, launch, PROCESSES, type Json } from '../support/process.js'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

t.test('the command', async t => {
  t.jobs = PROCESSES

  t.test('help and version go to standard output, and nothing is served', { buffered: true }, async t => {
    const { code, stdout, stderr } = await launch(t, ['serve', '--help', '--port', '1']).exit()
    t.match({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, /^Usage: patchbay /)
    const { stdout: ofServe } = await launch(t, ['serve', '--help', '--port', '1']).exit()
    for (const option of ['--stdio', '--port', '--host', '--plugin', '--config', '--log-level', '--help', '--version']) {
      t.ok(ofServe.includes(option), option)
    }
    t.match(await launch(t, ['--version', '--port', '1']).exit(), { code: 0, stdout: `${version}\n`, stderr: '' })
  })

  t.test(
    'the command line wins over the environment, and the environment over the config file',
    { buffered: true },
    async t => {
      const cwd = await folder(t, {
        'c.json': JSON.stringify({
          port: 1,
          name: 'from the file',
          instructions: 'from the file',
          prefix: '/file',
          pageSize: 1
        })
      })
      const env = {
        PATCHBAY_PORT: '2',
        PATCHBAY_NAME: 'from the environment',
        PATCHBAY_PREFIX: '/environment',
        PATCHBAY_PAGE_SIZE: ''
      }
      const url = await launch(t, ['--config', 'c.json', '--port', '0'], { cwd, env }).url()
      t.match(url, /\/environment$/)
      t.match(await json(`${url}/health`), { name: 'from the environment' })
      const response = await fetch(`${url}/message`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      })
      t.match(
        await response.json(),
        { result: { tools: [{}], nextCursor: String } },
        'what is empty in the environment is not set there'
      )
    }
  )

  t.test('the banner has every URL, and what to paste into a client', { buffered: true }, async t => {
    const launched = launch(t, ['--port', '0', '--log-format', 'pretty'])
    const url = await launched.url()
    await launched.up()
    for (const place of [
      `${url}/mcp`,
      `${url.replace('http', 'ws')}/mcp`,
      `${url}/message`,
      `${url}/sse`,
      `${url}/health`
    ]) {
      t.ok(launched.stderr.includes(place), place)
    }
    launched.kill('SIGTERM')
    const { code, stdout, stderr } = await launched.exit()
    t.match({ code, stdout }, { code: 0, stdout: '' })
    const snippet = /\{\n[^]*?\n\}/.exec(stderr)?.[0] ?? '{}'
    t.strictSame(JSON.parse(snippet), { mcpServers: { patchbay: { url: `${url}/mcp` } } })
  })

  t.test(
    'without a terminal standard error has JSON only, and one line says what is served',
    { buffered: true },
    async t => {
      for (const more of [[], ['--log-level', 'warn']]) {
        const launched = launch(t, ['--port', '0', '--ephemeral', ...more])
        const url = await launched.url()
        launched.kill('SIGTERM')
        const lines = (await launched.exit()).stderr
          .trim()
          .split('\n')
          .map(line => JSON.parse(line) as Json)
        const [up, ...others] = lines.filter(({ msg }) => String(msg).startsWith('patchbay '))
        t.strictSame(others, [])
        t.equal(
          up?.['msg'],
          `patchbay ${version} is up: MCP ${url}/mcp; 13 tools; data in memory, until this process ends`
        )
        t.match(up, {
          level: 30,
          version,
          stdio: false,
          urls: { MCP: `${url}/mcp`, WebSocket: `${url.replace('http', 'ws')}/mcp`, health: `${url}/health` },
          anonymous: true,
          upstreams: [],
          unavailable: { execute_command: /^no programs/ }
        })
        t.ok((up?.['tools'] as string[]).includes('calculate'))
      }
    }
  )

  t.test('stdio alone opens no port, and with HTTP besides the line has its URL', { buffered: true }, async t => {
    const alone = await launch(t, ['--stdio', '--ephemeral', '--log-level', 'warn']).up()
    alone.end()
    t.match(JSON.parse((await alone.exit()).stderr), {
      msg: `patchbay ${version} is up: stdio; 13 tools; data in memory, until this process ends`,
      urls: {}
    })
    const both = launch(t, ['--stdio', '--port', '0', '--ephemeral', '--log-level', 'warn'])
    const url = await both.url()
    t.match(await json(`${url}/health`), { status: 'healthy' })
    both.end()
    t.match(JSON.parse((await both.exit()).stderr), {
      msg: `patchbay ${version} is up: stdio; MCP ${url}/mcp; 13 tools; data in memory, until this process ends`
    })
  })

  t.test('lines for people on stdio without a terminal begin with one short line', { buffered: true }, async t => {
    const launched = await launch(t, ['--stdio', '--ephemeral', '--log-level', 'warn', '--log-format', 'pretty']).up()
    launched.end()
    t.match(
      (await launched.exit()).stderr,
      /^patchbay \S+ {2}stdio; 13 tools; data in memory, until this process ends\n$/
    )
  })

  t.test(
    'with keys the banner names the callers, and what to paste has a place for the key',
    { buffered: true },
    async t => {
      const launched = await launch(t, ['--port', '0', '--ephemeral', '--log-format', 'pretty'], {
        env: { PATCHBAY_API_KEYS: JSON.stringify([listed('ada', ADA), listed('bob', BOB)]) }
      }).up()
      launched.kill('SIGTERM')
      const { stderr } = await launched.exit()
      t.match(stderr, /^ {2}keys +ada, bob$/m)
      t.match(JSON.parse(/\{\n[^]*?\n\}/.exec(stderr)?.[0] ?? '{}'), {
        mcpServers: { patchbay: { url: /\/mcp$/, headers: { Authorization: 'Bearer <your key>' } } }
      })
      t.notMatch(stderr, /sha256|Ctrl-C/)
    }
  )
})

async function json (url: string): Promise<Json> {
  return await (await fetch(url)).json() as Json
}
