// Compiled, never run: a client that calls a tool by its value has the types of the tool.
import { z } from 'zod'
import { createClient, tool, Type, type FastifyInstance } from '../../app.js'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

const same = <A, B>(_proof: Same<A, B>): void => {}

/** Wants one more argument when the value is of another type. */
const has = <A>() => <B>(_value: B, ..._proof: Same<A, B> extends true ? [] : [never]): void => {}

const typed = tool({
  name: 'typed',
  description: 'd',
  input: Type.Object({ n: Type.Number() }),
  output: Type.Object({ double: Type.Number() }),
  run: ({ n }) => ({ double: 2 * n })
})
const optional = tool({
  name: 'optional',
  description: 'd',
  input: Type.Object({ n: Type.Optional(Type.Number()) }),
  run: () => 'text'
})
const bare = tool({ name: 'bare', description: 'd', run: () => 'text' })
const plain = tool({
  name: 'plain',
  description: 'd',
  input: { type: 'object', properties: { n: { type: 'number' } } },
  run: () => 'text'
})
const parsed = tool({
  name: 'parsed',
  description: 'd',
  input: z.object({ at: z.string().transform(text => new Date(text)), unit: z.string().default('m') }),
  output: z.object({ length: z.string().transform(text => text.length).pipe(z.number()) }),
  text: ({ length }, { unit }) => {
    same<typeof length, number>(true)
    return unit
  },
  run: ({ at, unit }) => {
    same<typeof at, Date>(true)
    same<typeof unit, string>(true)
    return { length: 'text' }
  }
})
tool({
  name: 'wrong',
  description: 'd',
  output: z.object({ length: z.string().transform(text => text.length) }),
  // @ts-expect-error the schema takes a string, not a number
  run: () => ({ length: 4 })
})
// @ts-expect-error the schema has no such property
tool({ name: 'wrong', description: 'd', input: z.object({ n: z.number() }), run: ({ m }) => m })

/** What the calls of a client take and give. */
export async function calls (app: FastifyInstance): Promise<void> {
  const { call } = await createClient(app)
  has<{ double: number }>()((await call(typed, { n: 1 })).output)
  await call(optional)
  await call(optional, { n: 1 }, { onProgress: ({ progress }) => same<typeof progress, number>(true) })
  await call(bare)
  // @ts-expect-error another type
  has<string>()((await call(typed, { n: 1 })).output)
  await call(plain, { n: 1 })
  has<unknown>()((await call(bare)).output)
  has<{ length: number }>()((await call(parsed, { at: '2026-01-01' })).output)
  await call('typed', { n: 'unknown to TypeScript' })
  // @ts-expect-error the tool requires arguments
  await call(typed)
  // @ts-expect-error a string where the schema says number
  await call(typed, { n: '1' })
  // @ts-expect-error there is no such argument
  await call(optional, { m: 1 })
  // @ts-expect-error clients send text, which the schema makes a date of
  await call(parsed, { at: new Date() })
  await createClient(app, {
    elicit: ({ message }) => ({ action: 'accept', content: { message } }),
    sample: () => 'text',
    roots: () => []
  })
  // @ts-expect-error there is no such action
  await createClient(app, { elicit: () => ({ action: 'perhaps' }) })
}
