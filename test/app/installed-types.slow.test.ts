import t from 'tap'
import { COMPILERS, installed, runNode } from '../support/installed.js'

/** The code that an author writes, with one import. It needs no package but this one. */
const AUTHOR = `
import { createClient, prompt, resource, tool, ToolError, Type, type Call, type Client, type FastifyInstance, type Static, type Tool, type TSchema } from 'mcp-patchbay'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(_proof: Same<A, B>): void => {}

const Input = Type.Object({ n: Type.Number(), note: Type.Optional(Type.String()) })
export const schema: TSchema = Input
export const given: Static<typeof Input> = { n: 1 }
// @ts-expect-error a string where the schema says number
export const wrong: Static<typeof Input> = { n: '1' }

export const double = tool({
  name: 'double',
  description: 'd',
  input: Input,
  output: Type.Object({ double: Type.Number() }),
  run: ({ n, note }, call) => {
    same<typeof n, number>(true)
    same<typeof note, string | undefined>(true)
    same<typeof call, Call>(true)
    // @ts-expect-error a number is no string
    n.toUpperCase()
    if (n > 9) throw new ToolError('too much')
    return { double: 2 * n }
  }
})
export default double

// @ts-expect-error a string where the output schema says number
tool({ name: 'wrong', description: 'd', output: Type.Object({ a: Type.Number() }), run: () => ({ a: '1' }) })
// @ts-expect-error another library's name of "run"
tool({ name: 'wrong', description: 'd', handler: () => '' })
export const page = resource({ uri: 'page:///{id}', name: 'Page', read: ({ id }) => id })
// @ts-expect-error there is no such variable
resource({ uri: 'page:///{id}', name: 'Page', read: ({ idd }) => idd })
export const review = prompt({ name: 'review', arguments: { language: { required: true } }, get: ({ language }) => language })

export const item: Tool = double

export async function test (app: FastifyInstance): Promise<number> {
  const client: Client = await createClient(app, { elicit: () => ({ action: 'decline' }) })
  const { output } = await client.call(double, { n: 1 })
  // @ts-expect-error a string where the schema says number
  await client.call(double, { n: '1' })
  // @ts-expect-error there is no such member
  void output.missing
  return output.double
}
`

/** A plugin, whose author has installed Fastify, too. */
const PLUGIN = `
import { Type, type FastifyInstance } from 'mcp-patchbay'

export default async function plugin (fastify: FastifyInstance): Promise<void> {
  fastify.mcp.method('acme/status', Type.Object({ n: Type.Number() }), ({ n }) => ({ n: n.toFixed() }))
  // @ts-expect-error what is not a tool
  fastify.mcp.tools.add({ name: 'wrong' })
  // @ts-expect-error there is no such member
  void fastify.missing
}
`

/** A schema of Zod, which the author has installed. */
const ZOD = `
import { createClient, tool, type FastifyInstance } from 'mcp-patchbay'
import { z } from 'zod'

export const parsed = tool({
  name: 'parsed',
  description: 'd',
  input: z.object({ at: z.iso.date().transform(text => new Date(text)), unit: z.string().default('m') }),
  output: z.object({ year: z.number(), unit: z.string().default('years') }),
  run: ({ at, unit }) => {
    unit.toUpperCase()
    // @ts-expect-error the schema makes a date of it
    at.toUpperCase()
    return { year: at.getFullYear() }
  }
})
// @ts-expect-error a string where the output schema says number
tool({ name: 'wrong', description: 'd', output: z.object({ a: z.number() }), run: () => ({ a: '1' }) })

export async function test (app: FastifyInstance): Promise<string> {
  const { call } = await createClient(app)
  // @ts-expect-error clients send text
  await call(parsed, { at: new Date() })
  return (await call(parsed, { at: '2026-01-01' })).output.unit
}
`

const CONFIG = JSON.stringify({
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    noEmit: true,
    declaration: true,
    types: ['node'],
    skipLibCheck: false
  },
  include: ['*/*.ts']
})

/** The files in a folder of each module type: `npm init -y` makes a CommonJS one. */
const inBoth = (files: Record<string, string>): Record<string, string> => ({
  'tsconfig.json': CONFIG,
  ...Object.fromEntries(['module', 'commonjs'].flatMap(type => [
    [`${type}/package.json`, JSON.stringify({ type })],
    ...Object.entries(files).map(([name, source]) => [`${type}/${name}`, source])
  ]))
})

const TIMEOUT = { timeout: 300_000 }

for (const [name, compiler] of Object.entries(COMPILERS)) {
  t.test(`${name}: types are inferred in ES modules and in CommonJS, by one import`, TIMEOUT, async t => {
    const folder = await installed(
      t,
      inBoth({ 'author.ts': AUTHOR, 'plugin.ts': PLUGIN, 'zod.ts': ZOD }),
      ['@types/node', 'zod'],
      ['fastify']
    )
    t.strictSame(await runNode(folder, [compiler, '-p', '.']), { code: 0, output: '' })
  })
}

t.test('tools and their tests have types where Fastify is not installed', TIMEOUT, async t => {
  const folder = await installed(t, inBoth({ 'author.ts': AUTHOR }), ['@types/node'])
  t.strictSame(await runNode(folder, [COMPILERS['TypeScript 7'], '-p', '.']), { code: 0, output: '' })
})
