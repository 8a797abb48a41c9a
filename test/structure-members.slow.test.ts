import t from 'tap'
import { undeclaredMembers } from './structure-members.js'
import { parse, sources } from './structure.js'

const TOOLS = parse(
  'plugins/tools.ts',
  "export default fp(async ({ mcp }) => { mcp.provide('tools', {}) }, { name: 'patchbay-tools', dependencies: ['patchbay-mcp'] })"
)

const plugin = (code: string, dependencies: string[], path = 'plugins/a.ts') =>
  parse(
    path,
    `${code}\nexport default fp(run, { name: 'patchbay-a', dependencies: [${dependencies.map(name => `'${name}'`).join(', ')}] })`
  )

const OFFENCE = ['plugins/a.ts does not declare patchbay-tools, but uses mcp.tools']

t.test('a plugin, route or transport declares the plugins whose members of app.mcp it uses', async t => {
  t.strictSame(undeclaredMembers(sources()), [])
})

t.test('every form of use is found', async t => {
  for (const code of [
    'fastify.mcp.tools.add(1)',
    'const { mcp } = fastify; mcp.tools.add(1)',
    'const { mcp: { tools } } = fastify',
    'const { tools } = fastify.mcp',
    'const { tools: mine } = mcp',
    'async function run ({ mcp: { tools } }) {}'
  ]) {
    t.strictSame(undeclaredMembers([TOOLS, plugin(code, [])]), OFFENCE, code)
    t.strictSame(undeclaredMembers([TOOLS, plugin(code, ['patchbay-tools'])]), [], code)
  }
  t.strictSame(undeclaredMembers([plugin('mcp.dispatcher.receive()', [])]), [
    'plugins/a.ts does not declare patchbay-mcp, but uses mcp.dispatcher'
  ])
})

t.test('a plugin need not declare what it uses only if it is there, nor what it provides', async t => {
  for (const code of [
    'mcp.tools?.add(1)',
    "if ('tools' in mcp) mcp.tools.add(1)",
    'other.tools.add(1)',
    'mcp.nothing()'
  ]) {
    t.strictSame(undeclaredMembers([TOOLS, plugin(code, [])]), [], code)
  }
  t.strictSame(undeclaredMembers([plugin("mcp.provide('b', 1); mcp.b()", ['patchbay-mcp'])]), [])
})

t.test('the transports that a route imports count as a part of it', async t => {
  const transport = parse('transports/http.ts', 'export const serve = app => app.mcp.tools.add(1)')
  const route = (dependencies: string[]) =>
    plugin("import { serve } from '../transports/http.js'", dependencies, 'routes/a.ts')
  t.strictSame(undeclaredMembers([TOOLS, transport, route([])]), [
    'routes/a.ts does not declare patchbay-tools, but transports/http.ts uses mcp.tools'
  ])
  t.strictSame(undeclaredMembers([TOOLS, transport, route(['patchbay-tools'])]), [])
  const ports = parse('transports/gateway.ts', 'export interface HttpGateway { tools: Tools, health: Health }')
  for (const type of ['HttpGateway', "Pick<HttpGateway, 'tools'>"]) {
    const taking = parse('transports/http.ts', `export const serve = ({ tools }: ${type}) => tools.add(1)`)
    t.strictSame(
      undeclaredMembers([TOOLS, ports, taking, route([])]),
      ['routes/a.ts does not declare patchbay-tools, but transports/http.ts uses mcp.tools'],
      type
    )
    t.strictSame(undeclaredMembers([TOOLS, ports, taking, route(['patchbay-tools'])]), [], type)
  }
  t.strictSame(
    undeclaredMembers([
      TOOLS,
      ports,
      parse('transports/http.ts', "export const serve = (port: Pick<HttpGateway, 'health'>) => 1"),
      route([])
    ]),
    []
  )
  t.strictSame(undeclaredMembers([TOOLS, transport]), [
    'transports/http.ts uses mcp.tools, and no plugin that declares it imports this file'
  ])
})
