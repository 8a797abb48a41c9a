import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FIXTURE, folder, initialize, launch, PROCESSES, toolCall, type Json } from '../support/process.js'

const QUIET = ['--ephemeral', '--log-level', 'silent', '--plugin', FIXTURE]

/** A tool that waits for the file `go` in the working directory. */
const PATIENT = `
  import { existsSync } from 'node:fs'
  import { setTimeout } from 'node:timers/promises'
  import { tool } from 'mcp-patchbay'
  export default tool({
    name: 'patient',
    description: '',
    run: async (_input, call) => {
      while (!existsSync('go')) await setTimeout(20)
      call.progress(1, 1)
      return 'gone'
    }
  })
`

async function post (url: string, message: object): Promise<Json> {
  const response = await fetch(`${url}/message`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', ...message })
  })
  return await response.json() as Json
}

t.test('the command', async t => {
  t.jobs = PROCESSES

  t.test(
    'when standard input ends, what is in flight is answered, then the process exits with 0',
    { buffered: true },
    async t => {
      const launched = launch(t, ['--stdio', ...QUIET])
      launched.send(initialize, toolCall(1, 'slow', { steps: 2, delay: 100 }), toolCall(2, 'echo', { text: 'x' }))
      launched.end()
      const { code, stdout } = await launched.exit()
      t.equal(code, 0)
      t.strictSame(ids(stdout), ['hello', 2, 1])
    }
  )

  t.test(
    'calls in flight at the end of the grace get an error, and the process exits with 0',
    { buffered: true },
    async t => {
      const launched = launch(t, ['--stdio', ...QUIET], { env: { PATCHBAY_GRACE: '100' } })
      launched.send(initialize, toolCall(1, 'slow', { steps: 1, delay: 600_000 }))
      await launched.next()
      launched.end()
      const { code, stdout } = await launched.exit()
      t.equal(code, 0)
      t.match(messages(stdout).at(-1), { id: 1, error: { code: -32603, message: 'The server is shutting down' } })
    }
  )

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    t.test(
      `${signal}: stdio and HTTP answer what is in flight, then the process exits with 0`,
      { buffered: true },
      async t => {
        const cwd = await folder(t, { 'patient.mjs': PATIENT })
        const args = ['--stdio', '--port', '0', '--ephemeral', '--log-level', 'silent', '--plugin', 'patient.mjs']
        const launched = launch(t, args, { cwd })
        const url = await launched.url()
        launched.send(initialize, toolCall(1, 'patient', {}, { _meta: { progressToken: 'p' } }))
        await launched.next()
        const overHttp = post(url, toolCall(1, 'patient'))
        await inFlight(url, 2)
        launched.kill(signal)
        await writeFile(join(cwd, 'go'), '')
        t.match(await overHttp, { id: 1, result: { content: [{ text: 'gone' }] } })
        const { code, stdout } = await launched.exit()
        t.equal(code, 0)
        t.match(messages(stdout).slice(1), [
          { method: 'notifications/progress' },
          { id: 1, result: { content: [{ text: 'gone' }] } }
        ])
      }
    )
  }

  t.test(
    'an HTTP call that ignores the end of the grace gets an error, and the process exits with 0',
    { buffered: true },
    async t => {
      const cwd = await folder(t, {
        'stubborn.mjs':
          'import { tool } from "mcp-patchbay"\nexport default tool({ name: "stubborn", description: "", run: () => new Promise(() => {}) })'
      })
      const launched = launch(t, ['--port', '0', '--ephemeral', '--log-level', 'silent', '--plugin', 'stubborn.mjs'], {
        cwd,
        env: { PATCHBAY_GRACE: '300' }
      })
      const url = await launched.url()
      const answer = post(url, toolCall(1, 'stubborn'))
      await inFlight(url, 1)
      launched.kill('SIGTERM')
      t.match(await answer, { id: 1, error: { code: -32603, message: 'The server is shutting down' } })
      t.equal((await launched.exit()).code, 0)
    }
  )

  t.test('an idle process exits with 0, whatever is connected', { buffered: true }, async t => {
    const launched = launch(t, ['--port', '0', ...QUIET])
    const url = await launched.url()
    const stream = await fetch(`${url}/sse`)
    await post(url, { id: 1, method: 'ping' })
    launched.kill('SIGTERM')
    t.equal((await launched.exit()).code, 0)
    await stream.text()
  })

  t.test('standard output carries messages only, however much is logged and printed', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'noisy.ts': `import { tool } from 'mcp-patchbay'
        console.log('loaded')
        export default async function (fastify) {
          fastify.log.warn('registered')
          fastify.mcp.tools.add(tool({ name: 'noisy', description: '', run: (_input, call) => {
            for (let line = 0; line < 2000; line++) { fastify.log.info({ line }, 'noise'); call.log('info', 'below the level of the client') }
            process.emitWarning('careful')
            console.log('called')
            console.info('still')
            return 'done'
          } }))
        }`
    })
    const launched = launch(t, ['--stdio', '--log-level', 'trace', '--plugin', 'noisy.ts'], { cwd })
    launched.send(
      initialize,
      toolCall(1, 'noisy'),
      { method: 'notifications/initialized' },
      { id: 2, method: 'unheard/of' }
    )
    launched.end()
    const { code, stdout, stderr } = await launched.exit()
    t.equal(code, 0)
    t.strictSame(ids(stdout).sort(), [1, 2, 'hello'])
    t.ok(stderr.split('\n').length > 4000, 'the noise is on standard error')
    for (const word of ['loaded', 'called', 'still', 'careful']) t.match(stderr, word)
  })

  t.test('an unhandled rejection in a tool fails no other call', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'forgetful.ts': `import { tool } from 'mcp-patchbay'
        export default tool({ name: 'forgetful', description: '', run: () => { void Promise.reject(new Error('forgotten')); return 'done' } })`
    })
    const launched = launch(t, ['--stdio', '--plugin', 'forgetful.ts', '--plugin', FIXTURE], { cwd })
    launched.send(initialize, toolCall(1, 'slow', { steps: 1, delay: 50 }), toolCall(2, 'forgetful'))
    launched.end()
    const { code, stdout, stderr } = await launched.exit()
    t.equal(code, 0)
    t.strictSame(ids(stdout), ['hello', 2, 1])
    t.match(stderr, /forgotten/)
  })
})

/** Waits until so many clients are being served. */
async function inFlight (url: string, count: number): Promise<void> {
  for (;;) {
    const { peers } = await (await fetch(`${url}/health`)).json() as { peers: number }
    if (peers === count) return
  }
}

function messages (stdout: string): Json[] {
  return stdout.trim().split('\n').map(line => JSON.parse(line) as Json)
}

function ids (stdout: string): unknown[] {
  return messages(stdout).map(({ id }) => id)
}
