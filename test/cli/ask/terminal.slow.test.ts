import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../../app.js'
import matrixFixture from '../../matrix/fixture.js'
import { COMMAND } from '../../support/command.js'
import fixture, { listening } from '../../support/gateway.js'
import { browse } from '../../support/environment/authorization-server.js'
import { FIXTURE, folder, launch, PROCESSES } from '../../support/process.js'
import { openPlace } from '../../upstreams/sign-in/place.js'
import { inShells, lacksTerminal, openTerminal } from './terminal.js'

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Your name' },
    age: { type: 'integer' },
    sure: { type: 'boolean', default: true },
    color: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g', title: 'Green' }] },
    tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
    note: { type: 'string' }
  },
  required: ['name', 'age', 'color']
} as const

/** Tools that ask more than those of other tests. */
async function askers (app: FastifyInstance): Promise<void> {
  app.mcp.tools.add(tool({
    name: 'ask_much',
    description: 'Asks for one field of each kind',
    run: async (_input, call) =>
      JSON.stringify(await call.elicit('much', { message: 'Who\u001b[31m are you?', requestedSchema: FORM as never }))
  }))
  app.mcp.tools.add(tool({
    name: 'ask_page',
    description: 'Asks for a page to be opened',
    run: async (_input, call) =>
      (await call.elicit('page', { mode: 'url', message: 'Sign in', url: 'https://login.example/x', elicitationId: 'x' } as never)).action
  }))
  app.mcp.tools.add(tool({
    name: 'colors',
    description: 'Answers with what a terminal would obey',
    input: Type.Object({}),
    run: () => 'a\u001b[31mb\tc\u0007'
  }))
}

t.test('the command-line client on a terminal', { skip: lacksTerminal }, async t => {
  t.jobs = PROCESSES
  const { url } = await listening(t, { plugins: [fixture, matrixFixture, askers] })
  const at = `--url ${url}/mcp`

  t.test('a table has the names, and as much of the first sentence as fits', { buffered: true }, async t => {
    const terminal = await openTerminal(t, `patchbay tools ${at}`)
    t.equal(await terminal.exit(), 0)
    const lines = terminal.text().trimEnd().split('\n')
    t.ok(lines.every(line => line.length <= 80), terminal.text())
    t.ok(lines.some(line => /^echo {2,}Gives back what it was given$/.test(line)), terminal.text())
  })

  t.test('text is shown as it is, and what a terminal would obey is made visible', { buffered: true }, async t => {
    const terminal = await openTerminal(t, `patchbay call colors ${at}`)
    t.equal(await terminal.exit(), 0)
    t.equal(terminal.raw(), 'a\\u{1b}[31mb\tc\\u{7}\r\n')
    const failed = await openTerminal(t, `patchbay call refuse ${at}`)
    t.equal(await failed.exit(), 1)
    t.match(failed.text(), /^not today\npatchbay: the tool says that it failed\n$/)
    const bytes = await openTerminal(t, `patchbay read test://bytes ${at}`)
    t.equal(await bytes.exit(), 0)
    t.match(bytes.text(), /^\[application\/octet-stream, 3 bytes\]; --out FILE writes it\n$/)
  })

  t.test('a bar shows the progress, and is gone at the end', { buffered: true }, async t => {
    const terminal = await openTerminal(t, `patchbay call slow steps=4 ${at}`)
    t.equal(await terminal.exit(), 0)
    const raw = terminal.raw()
    t.ok(raw.includes(`[######${'.'.repeat(18)}] 25 % step 1\r\u001b[K`), raw)
    t.ok(raw.endsWith('\r\u001b[K4 steps\r\n'), raw)
  })

  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    t.test(`a form is answered field by field, in ${revision}`, { buffered: true }, async t => {
      const terminal = await openTerminal(t, `patchbay call ask_much --revision ${revision} ${at}`)
      await terminal.shows(/^The server asks: Who\\u\{1b\}\[31m are you\?\n {2}Your name\n {2}name \(string\): $/m)
      terminal.type('Ada\r')
      await terminal.shows(/age \(integer\): $/)
      terminal.type('many\r')
      await terminal.shows(/this must be a whole number, not "many"\n {2}age \(integer\): $/)
      terminal.type('36\r')
      await terminal.shows(/sure \(boolean, may be empty\) \[true\]: $/)
      terminal.type('no\r')
      await terminal.shows(/ {4}r {2}Red\n {4}g {2}Green\n {2}color \(string\): $/)
      terminal.type('Green\r')
      await terminal.shows(/tags \((several, with commas between|string), may be empty\): $/)
      terminal.type('a, b\r')
      await terminal.shows(/note \(string, may be empty\): $/)
      terminal.type('\r')
      await terminal.shows(/Send this to the server\? \[Y\/n\] $/)
      terminal.type('y\r')
      t.equal(await terminal.exit(), 0, terminal.text())
      const content = { name: 'Ada', age: 36, sure: false, color: 'g', tags: ['a', 'b'] }
      t.strictSame(JSON.parse(terminal.text().trimEnd().split('\n').at(-1) ?? ''), { action: 'accept', content })
    })
  }

  t.test('a question can be declined, cancelled, or the call with it', { buffered: true }, async t => {
    const declined = await openTerminal(t, `patchbay call ask_name ${at}`)
    await declined.shows(/name \(string\): $/)
    declined.type('Ada\r')
    await declined.shows(/Send this to the server\? \[Y\/n\] $/)
    declined.type('n\r')
    t.equal(await declined.exit(), 0)
    t.match(declined.text(), /You chose to decline\.\n$/)
    const cancelled = await openTerminal(t, `patchbay call ask_name ${at}`)
    await cancelled.shows(/name \(string\): $/)
    cancelled.type('\u0004')
    t.equal(await cancelled.exit(), 0)
    t.match(cancelled.text(), /You chose to cancel\.\n$/)
    const interrupted = await openTerminal(t, `patchbay call ask_name ${at}`)
    await interrupted.shows(/name \(string\): $/)
    interrupted.type('\u0003')
    t.equal(await interrupted.exit(), 130)
  })

  t.test('a page is shown with its host, and not opened', { buffered: true }, async t => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const terminal = await openTerminal(t, `patchbay call ask_page --revision ${revision} ${at}`)
      await terminal.shows(/Open this page in a browser, if you trust login\.example:\n {2}https:\/\/login\.example\/x\nGo on when it is done\? \[Y\/n\] $/)
      terminal.type('\r')
      t.equal(await terminal.exit(), 0, terminal.text())
      t.match(terminal.text(), /accept\n$/)
    }
  })

  t.test('a page of an upstream that wants a sign-in is shown, and the call goes on after it', { buffered: true }, async t => {
    const { options, server } = await openPlace(t)
    const { url } = await listening(t, options)
    // Before the first sign-in, a client without a handshake gets the command in words: the tool is not known yet.
    for (const words of ['text=hello --revision 2025-11-25', 'text=needs-more']) {
      const terminal = await openTerminal(t, `patchbay call linear__echo ${words} --url ${url}/mcp`)
      await terminal.shows(/^ {2}http:\/\/\S+\nGo on when it is done\? \[Y\/n\] $/m)
      await browse(/^ {2}(http:\/\/\S+)\n/m.exec(terminal.text())?.[1] ?? '')
      terminal.type('\r')
      t.equal(await terminal.exit(), 0, terminal.text())
      t.match(terminal.text(), /(hello|needs-more)\n$/)
      for (const token of server.tokens) t.notOk(terminal.text().includes(token))
    }
    const direct = await launch(t, ['tools', '--url', server.url]).exit()
    t.match(direct, { code: 3, stdout: '', stderr: /needs a credential .*; for a server that wants a sign-in \(OAuth\), run patchbay add NAME URL and patchbay login NAME/ })
  })

  t.test('Ctrl-C during a call cancels it', { buffered: true }, async t => {
    const terminal = await openTerminal(t, `patchbay call hang key=terminal ${at}`)
    const started = launch(t, ['call', 'wait_for', 'moment=terminal started', '--url', `${url}/mcp`])
    t.match(await started.exit(), { code: 0 })
    terminal.type('\u0003')
    t.equal(await terminal.exit(), 130)
    t.match(await launch(t, ['call', 'wait_for', 'moment=terminal aborted', '--url', `${url}/mcp`]).exit(), { code: 0 })
  })

  t.test('a program is asked like a URL', { buffered: true }, async t => {
    const server = `${process.execPath} ${COMMAND} --stdio --ephemeral --plugin ${FIXTURE}`
    const terminal = await openTerminal(t, `patchbay call ask_name -- ${server}`)
    await terminal.shows(/name \(string\): $/)
    terminal.type('Ada\r\r')
    t.equal(await terminal.exit(), 0, terminal.text())
    t.match(terminal.text(), /Hello, Ada!\n$/)
  })
})

inShells(t, shell => `${shell} completes tools, arguments and values`, async (t, openShell) => {
  t.setTimeout(300_000)
  const { app } = await listening(t)
  const port = String((app.server.address() as { port: number }).port)
  const terminal = await openShell(await folder(t, {}), { PATCHBAY_PORT: port })
  let lines = 0
  /** Completes the last word of a line, and has the shell print the line in place of running it. */
  const completes = async (line: string, completed: string): Promise<void> => {
    const printed = (): boolean => terminal.text().includes(`<patchbay ${completed}`)
    // On a busy machine a shell is offered nothing, because it does not wait for long: the key is pressed again then.
    for (let tries = 0; tries < 20 && !printed(); tries++) {
      terminal.type(`patchbay ${line}\t\u0001printf '<%s' "\u0005"; echo; echo "line "${++lines}.\r`)
      await terminal.shows(new RegExp(`line ${lines}\\.`))
    }
    t.ok(printed(), `${line}: ${terminal.text()}`)
  }
  await completes('cal', 'call')
  await completes('call calcu', 'call calculate')
  await completes('call calculate op', 'call calculate operation=')
  await completes('call calculate operation=mul', 'call calculate operation=multiply')
  await completes('call calculate --for', 'call calculate --format')
  await completes('call calculate --format te', 'call calculate --format text')
  await completes('read server://st', 'read server://status')
  terminal.type('patchbay call calculate operation=multiply a=6 b=7 --format text\r')
  await terminal.shows(/6 × 7 = 42|6 \* 7 = 42/)
  await app.close()
  terminal.type('patchbay call calc\t\u0015echo "qui"et; exit\r')
  t.equal(await terminal.exit(), 0)
  t.match(terminal.text(), /quiet/)
  t.notMatch(terminal.text(), /gateway|refused/, 'without a gateway, nothing is said')
})
