import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { expectUnharmed } from '../support/server.js'
import { as, hosted } from './host.js'
import guarded from './guarded.js'
import { speakers, type Answer, type Json, type Speaker } from './speakers.js'

/** The scopes that a caller may be granted, and what they allow. */
const GRANTS: Record<string, string[]> = {
  nothing: [],
  'the basic scope': ['mcp'],
  'one scope': ['special'],
  'half of what both take': ['extra:deep'],
  'all that both take': ['special', 'extra'],
  'to write notes': ['notes:write'],
  'all of notes': ['notes'],
  'what looks like a scope': ['specia', 'special:more', 'SPECIAL', 'notesx', 'mcp:x', '*', '__proto__', 'all'],
  everything: ['admin']
}

const THOROUGH = ['stateless', 'websocket']
const EVERYWHERE = ['nothing', 'the basic scope', 'one scope']

/** One thing that can be asked for, what it takes, and an answer for whom it does not exist. */
interface Thing {
  name: string
  list?: string
  takes: readonly string[]
  method: string
  params: (name: string) => Json
}

t.test('what takes a scope is hidden and refused without it, on every transport', async t => {
  const server = await hosted(t, { plugins: [guarded], pageSize: 1_000, roots: [] })
  const things = thingsOf(server.app)
  t.ok(things.length > 60, `${things.length} things`)
  t.ok(new Set(things.flatMap(({ takes }) => takes)).size >= 6)
  await server.app.mcp.notes.add('bob', 'there is one', [])

  for (const [transport, open] of Object.entries(speakers)) {
    for (const [what, scopes] of Object.entries(GRANTS).filter(
      ([what]) => THOROUGH.includes(transport) || EVERYWHERE.includes(what)
    )) {
      await t.test(`${transport}, granted ${what}`, async t => {
        const caller = await open(as(server, 'bob', scopes))
        const listed = await names(caller)
        const wrong: string[] = []
        for (const thing of things) {
          const { name, list, takes, method, params } = thing
          const may = takes.every(scope => allows(scopes, scope))
          if (list !== undefined && listed.has(`${list} ${name}`) !== may) {
            wrong.push(`${list} ${may ? 'leaves out' : 'shows'} ${name}`)
          }
          if (!isServed(caller, method)) continue
          const answer = await caller.ask(method, params(name))
          if (!may) wrong.push(...(await doubts(caller, thing, answer)))
          else if (isRefusal(answer)) wrong.push(`${method} ${name} is refused: ${JSON.stringify(answer)}`)
        }
        t.strictSame(wrong, [])
        await caller.close()
        await expectUnharmed(t, server)
      })
    }
  }
  t.equal(server.seen.counted + server.seen.hanging, 0, 'nothing was run')
})

t.test('scopes set by the operator override those of the author', async t => {
  const server = await hosted(t, {
    plugins: [guarded],
    pageSize: 1_000,
    scopes: {
      'tools/special_tool': ['mcp'],
      'tools/open_tool': ['operator'],
      'resources/guard://special/{id}': [],
      'prompts/open_prompt': ['operator', 'extra'],
      'tools/nobody_has_this': ['x']
    }
  })
  for (const [transport, open] of Object.entries(speakers)) {
    await t.test(transport, async t => {
      const [basic, operator, none] = [
        await open(as(server, 'bob', ['mcp'])),
        await open(as(server, 'eve', ['operator'])),
        await open(as(server, 'dan', []))
      ]
      const lists = [await names(basic), await names(operator), await names(none)]
      const shows = (name: string) => lists.map(list => list.has(name))
      t.strictSame(shows('tools/list special_tool'), [true, false, false])
      t.strictSame(shows('tools/list open_tool'), [false, true, false])
      t.strictSame(shows('resources/templates/list guard://special/{id}'), [true, true, true])
      t.strictSame(
        shows('resources/list guard://special'),
        [false, false, false],
        'what is not named keeps what its author said'
      )
      t.strictSame(shows('prompts/list open_prompt'), [false, false, false])
      const runs = async (name: string) =>
        await Promise.all(
          [basic, operator, none].map(async speaker => (await speaker.ask('tools/call', { name })).result !== undefined)
        )
      t.strictSame(await runs('special_tool'), [true, false, false])
      t.strictSame(await runs('open_tool'), [false, true, false])
      for (const speaker of [basic, operator, none]) {
        t.match(await speaker.ask('resources/read', { uri: 'guard://special/1' }), {
          result: { contents: [{ text: 'secret of special' }] }
        })
        await speaker.close()
      }
      await expectUnharmed(t, server)
    })
  }
})

function thingsOf ({ mcp: { tools, resources, prompts } }: FastifyInstance): Thing[] {
  const takes = ({ scopes = ['mcp'] }: { scopes: readonly string[] | undefined } = { scopes: undefined }) => scopes
  const found: Thing[] = []
  for (const name of tools.names()) {
    found.push({
      name,
      list: 'tools/list',
      takes: takes(tools.get(name)),
      method: 'tools/call',
      params: name => ({ name, arguments: { nobody: 'knows' } })
    })
  }
  for (const name of prompts.names()) {
    const scopes = takes(prompts.get(name))
    found.push({ name, list: 'prompts/list', takes: scopes, method: 'prompts/get', params: name => ({ name }) })
    found.push({
      name,
      takes: scopes,
      method: 'completion/complete',
      params: name => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } })
    })
  }
  for (const uri of resources.uris()) {
    const resource = resources.get(uri)
    const scopes = takes(resource)
    const isTemplate = uri.includes('{')
    const concrete = (name: string) => ({ uri: name.replace('{id}', '1').replace('{+path}', 'x') })
    found.push({
      name: uri,
      list: isTemplate ? 'resources/templates/list' : 'resources/list',
      takes: scopes,
      method: 'resources/read',
      params: concrete
    })
    found.push({ name: uri, takes: scopes, method: 'resources/subscribe', params: concrete })
    if (isTemplate) {
      found.push({
        name: uri,
        takes: scopes,
        method: 'completion/complete',
        params: uri => ({ ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: '' } })
      })
    }
    if (isTemplate && uri.startsWith('guard:')) {
      found.push({
        name: concrete(uri).uri,
        list: 'resources/list',
        takes: scopes,
        method: 'resources/read',
        params: uri => ({ uri })
      })
    }
  }
  for (const [name, scopes] of [
    ['author/plain', ['mcp']],
    ['author/special', ['special']],
    ['author/open', []]
  ] as const) { found.push({ name, takes: scopes, method: name, params: () => ({}) }) }
  return found
}

/** Written again, and not taken from what is tested. */
function allows (granted: string[], scope: string): boolean {
  return granted.includes('admin') || granted.includes(scope) || granted.includes(scope.split(':')[0] as string)
}

/** What is wrong with a refusal. HTTP names the missing scope; elsewhere the thing appears not to exist. */
async function doubts (caller: Speaker, { name, takes, method, params }: Thing, answer: Answer): Promise<string[]> {
  const title = `${method} ${name} is answered ${JSON.stringify(answer)}`
  if (!isRefusal(answer) || JSON.stringify(answer).includes('secret of')) return [title]
  if (answer.status !== undefined) {
    const challenge = answer.headers?.get('www-authenticate') ?? ''
    return challenge.includes('error="insufficient_scope"') && challenge.includes(`scope="${takes.join(' ')}"`)
      ? []
      : [`${title} with ${challenge}`]
  }
  const invented = method === name ? 'author/nobody' : `${name.slice(0, 3)}nobody`
  const unknown = await caller.ask(method === name ? invented : method, params(invented))
  return comparable(answer, name) === comparable(unknown, invented)
    ? []
    : [`${title} but what is not there ${JSON.stringify(unknown)}`]
}

const comparable = ({ error }: Answer, about: string): string =>
  JSON.stringify(error).replaceAll(about.replace('{id}', '1'), 'X').replaceAll(about, 'X')

function isRefusal ({ status, error }: Answer): boolean {
  return status === undefined
    ? /^(Invalid params: Unknown|Method not found|Resource not found)/.test(error?.message ?? '')
    : status === 403 && error?.code === -32600
}

function isServed ({ era }: Speaker, method: string): boolean {
  return method !== 'resources/subscribe' || era === 'legacy'
}

async function names (caller: Speaker): Promise<Set<string>> {
  const lists = {
    'tools/list': 'tools',
    'prompts/list': 'prompts',
    'resources/list': 'resources',
    'resources/templates/list': 'resourceTemplates'
  }
  const found = new Set<string>()
  for (const [method, member] of Object.entries(lists)) {
    const items = (await caller.ask(method)).result?.[member] as Array<Record<string, string>>
    for (const { name, uri, uriTemplate } of items) found.add(`${method} ${uri ?? uriTemplate ?? name}`)
  }
  return found
}
