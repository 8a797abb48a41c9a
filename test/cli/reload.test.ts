import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { reloader } from '../../cli/reload.js'
import { resolveOptions, type Options } from '../../options.js'
import fixture, { gateway } from '../support/gateway.js'
import { modernPost } from '../support/host.js'
import { until } from '../support/wait.js'

const DENIED = { deny: ['echo'] }

/** A gateway whose options are given anew at each reload, which returns what was logged about it. */
async function reloadable (t: Test, given: Partial<Options>, plugins: Options['plugins'] = []) {
  const app = await gateway(t, { ...given, tools: false, plugins: [fixture, ...plugins] })
  const lines: string[] = []
  const log = (line: unknown): void => { lines.push(String(line)) }
  const logger = { info: (_fields: unknown, line: string) => log(line), warn: log, error: log }
  let next: object = given
  const reload = reloader({
    app,
    logger: logger as unknown as FastifyBaseLogger,
    options: resolveOptions({ ...given, tools: false }),
    read: () => resolveOptions({ ...next, tools: false }),
    locate: error => error,
    onFiles: () => {}
  })
  const reloaded = async (options: object): Promise<string> => {
    const before = lines.length
    next = options
    reload()
    await until(() => lines.length > before)
    return lines[before] ?? ''
  }
  const served = async (view = ''): Promise<unknown> => {
    const request = modernPost('echo', { text: 'hi' })
    const reply = await app.inject({ ...request, url: `/mcp${view}` })
    return reply.json<{ error?: { data: { code: string } } }>().error?.data.code ?? 'served'
  }
  return { reloaded, served }
}

t.test('a wrong rule changes nothing at a reload, neither rules nor anything beside them', async t => {
  const { reloaded, served } = await reloadable(t, { rules: [DENIED] })
  const denied = await served()
  t.not(denied, 'served')
  for (const wrong of [{ deny: 'echo' }, { deny: ['echo'], allow: ['echo'] }, { allow: ['echo'], for: { principl: 'ada' } }]) {
    const line = await reloaded({ rules: [{ allow: ['echo'] }, wrong], views: { more: {} } })
    t.match(line, /^options not reloaded, the previous ones stay: option rules\.1/)
    t.equal(await served(), denied)
    t.equal(await served('/more'), 'PATCHBAY_UNKNOWN_VIEW')
  }
  t.match(await reloaded({ rules: [] }), 'options reloaded: changed rules')
  t.equal(await served(), 'served')
})

t.test('a reload that fails half done says what it took over, and the next takes over the rest', async t => {
  let isBroken = false
  const breaking = async ({ mcp }: FastifyInstance): Promise<void> => mcp.additions.add({
    isFor: () => isBroken,
    load: async () => { throw new Error('a file of the gateway is gone') }
  })
  const { reloaded, served } = await reloadable(t, { rules: [DENIED] }, [breaking])
  isBroken = true
  const line = await reloaded({ rules: [], views: { more: {} } })
  t.match(line, /^options reloaded in part, rules as they are now, but servers and views may be .*: a file of the gateway/)
  t.equal(await served(), 'served', 'as it says')
  isBroken = false
  t.match(await reloaded({ rules: [DENIED], views: { more: {} } }), 'options reloaded: changed rules, views')
  t.not(await served(), 'served')
  t.not(await served('/more'), 'PATCHBAY_UNKNOWN_VIEW')
})
