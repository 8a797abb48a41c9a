import t, { type Test } from 'tap'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { createClient, tool, type Client } from '../../app.js'
import type { StandardSchema } from '../../protocol/schema/standard-schema.js'
import type { ElicitAnswer } from '../../protocol/wire/client-answers.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/modern.js'

async function client (t: Test, item: Tool, protocolVersion?: string): Promise<Client> {
  const app = await gateway(t, { plugins: [async fastify => { fastify.mcp.tools.add(item) }], http: false })
  return await createClient(app, protocolVersion === undefined ? {} : { protocolVersion })
}

const call = async ({ request }: Client, args: Json = {}): Promise<Json> =>
  await request('tools/call', { name: 'it', arguments: args })

const textOf = (result: Json): unknown => (result['content'] as Array<{ text: unknown }>)[0]?.text

async function listed ({ request }: Client): Promise<Json> {
  const { tools } = await request('tools/list') as { tools: Json[] }
  return tools.find(({ name }) => name === 'it') as Json
}

t.test('a Zod schema is listed as JSON Schema, and run gets what it makes of the arguments', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: z.object({
      who: z.string().trim().min(2),
      times: z.int().default(2),
      when: z.iso
        .date()
        .transform(text => new Date(text))
        .optional()
    }),
    run: ({ who, times, when }) => `${who.repeat(times)} ${when?.getUTCFullYear() ?? ''}`
  })
  const connected = await client(t, item)
  t.match(await listed(connected), {
    inputSchema: {
      type: 'object',
      properties: {
        who: { type: 'string', minLength: 2 },
        times: { type: 'integer', default: 2 },
        when: { type: 'string', format: 'date' }
      },
      required: ['who']
    }
  })
  t.equal(textOf(await call(connected, { who: ' Ada', when: '1843-07-10', more: 1 })), 'AdaAda 1843')
})

t.test('the listed JSON Schema is checked first, then the schema itself: one kind of sentence for both', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: z
      .object({
        from: z.number(),
        to: z.number(),
        tags: z.array(z.string().refine(tag => tag !== 'x', 'x is taken')).optional()
      })
      .refine(({ from, to }) => from < to, { error: 'must be greater than from', path: ['to'] }),
    run: () => t.fail('it ran')
  })
  const connected = await client(t, item)
  t.match(await call(connected, { from: '1', to: 2 }), {
    isError: true,
    content: [{ text: 'Invalid params: arguments of it: from must be number' }]
  })
  t.match(await call(connected, { from: 3, to: 2 }), {
    isError: true,
    content: [{ text: 'Invalid params: arguments of it: to: must be greater than from' }]
  })
  t.match(await call(connected, { from: 1, to: 2, tags: ['a', 'x'] }), {
    isError: true,
    content: [{ text: 'Invalid params: arguments of it: tags.1: x is taken' }]
  })
  await t.rejects(
    client(t, item, '2025-06-18').then(async old => await call(old, { from: 3, to: 2 })),
    { code: -32602, message: 'Invalid params: arguments of it: to: must be greater than from' }
  )
})

t.test('a tool words such an error itself with explain', async t => {
  const input = z.object({ n: z.number().refine(n => n % 2 === 0, 'odd') })
  const item = tool({
    name: 'it',
    description: 'd',
    input,
    explain: (given, why) => `${JSON.stringify(given)} is ${why}`,
    run: () => 'ok'
  })
  t.equal(textOf(await call(await client(t, item), { n: 3 })), 'Invalid params: {"n":3} is n: odd')
})

t.test('a schema may take its time', async t => {
  const input = z.object({ name: z.string().refine(async name => await Promise.resolve(name !== 'taken'), 'is taken') })
  const connected = await client(t, tool({ name: 'it', description: 'd', input, run: ({ name }) => name }))
  t.equal(textOf(await call(connected, { name: 'free' })), 'free')
  t.match(await call(connected, { name: 'taken' }), { isError: true, content: [{ text: /name: is taken/ }] })
})

t.test('a call that was cancelled while its schema was waiting is not run', async t => {
  const gate = resolvers()
  const asked = resolvers()
  const input = z.object({ n: z.number().refine(async () => { asked.resolve(true); return await gate.promise }) })
  let ran = false
  const connected = await client(t, tool({ name: 'it', description: 'd', input, run: () => { ran = true } }))
  const controller = new AbortController()
  const answer = connected.request('tools/call', { name: 'it', arguments: { n: 1 } }, controller.signal)
  await asked.promise
  controller.abort(new Error('enough'))
  await t.rejects(answer)
  await connected.request('ping')
  gate.resolve(true)
  await connected.request('ping')
  t.notOk(ran)
})

t.test('what is sent is what the output schema makes of the return value, and text gets both parsed', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: z.object({ by: z.number().default(3) }),
    output: z.object({ total: z.number(), unit: z.string().default('m') }),
    text: ({ total, unit }, { by }) => `${total} ${unit} by ${by}`,
    failed: ({ total }) => total > 9,
    run: ({ by }) => ({ total: by * 2, secret: 'left out' })
  })
  const connected = await client(t, item)
  t.match(await listed(connected), {
    outputSchema: {
      type: 'object',
      properties: { unit: { type: 'string' } },
      required: ['total', 'unit'],
      additionalProperties: false
    }
  })
  t.strictSame(await call(connected), {
    content: [{ type: 'text', text: '6 m by 3' }],
    structuredContent: { total: 6, unit: 'm' },
    isError: false
  })
  t.strictSame(await call(connected, { by: 5 }), {
    content: [{ type: 'text', text: '10 m by 5' }],
    structuredContent: { total: 10, unit: 'm' },
    isError: true
  })
})

t.test('a return value that the output schema refuses is a fault of the tool', async t => {
  const errors: unknown[] = []
  const item = tool({
    name: 'it',
    description: 'd',
    output: z.object({ n: z.number().refine(n => n > 0, 'not positive') }),
    run: async () => ({ n: -1 })
  })
  const app = await gateway(t, {
    plugins: [
      async fastify => {
        fastify.mcp.tools.add(item)
        fastify.mcp.onLog((_level, data) => {
          errors.push(data)
        })
      }
    ]
  })
  await t.rejects((await createClient(app)).request('tools/call', { name: 'it' }), { code: -32603 })
  t.match(errors, [{ err: { message: 'tool "it" returned what its output schema does not allow: n: not positive' } }])
})

t.test('a union of objects is an object', async t => {
  const input = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), a: z.number() }),
    z.object({ kind: z.literal('b'), b: z.string() })
  ])
  const connected = await client(
    t,
    tool({ name: 'it', description: 'd', input, run: given => (given.kind === 'a' ? given.a : given.b) })
  )
  t.equal((await listed(connected) as { inputSchema: Json }).inputSchema['type'], 'object')
  t.equal(textOf(await call(connected, { kind: 'b', b: 'two' })), 'two')
  t.match(await call(connected, { kind: 'c' }), { isError: true })
})

t.test('z.toJSONSchema gives a schema, too, of classic and of mini', async t => {
  const schemas = [z.toJSONSchema(z.object({ n: z.number() })), mini.toJSONSchema(mini.object({ n: mini.number() }))]
  for (const input of schemas) {
    const connected = await client(
      t,
      tool({ name: 'it', description: 'd', input, run: given => JSON.stringify(given) })
    )
    t.equal(textOf(await call(connected, { n: 1 })), '{"n":1}')
    t.match(await call(connected, { n: 'x' }), { isError: true, content: [{ text: /n must be number/ }] })
  }
})

t.test('a method of an author takes such a schema, too', async t => {
  const app = await gateway(t)
  const params = z.object({ n: z.number().refine(n => n < 9, 'too much'), unit: z.string().default('m') })
  app.mcp.method('acme/measure', params, ({ n, unit }) => ({ shown: `${n.toFixed(1)} ${unit}` }))
  const { request } = await createClient(app)
  t.match(await request('acme/measure', { n: 1 }), { shown: '1.0 m' })
  await t.rejects(request('acme/measure', { n: 'x' }), { code: -32602, message: 'Invalid params: n must be number' })
  await t.rejects(request('acme/measure', { n: 10 }), { code: -32602, message: 'Invalid params: n: too much' })
  t.throws(() => app.mcp.method('acme/wrong', mini.object({}) as never, () => ({})), /use Zod 4.2 or newer/)
})

t.test('a form for the user may have such a schema, and its answer is parsed', async t => {
  const requestedSchema = z.object({
    name: z
      .string()
      .trim()
      .refine(name => name !== 'Eve', 'is not welcome'),
    times: z.number().default(2)
  })
  const item = tool({
    name: 'it',
    description: 'd',
    run: async (_input, call) => {
      const { action, content } = await call.elicit('who', { message: 'Who?', requestedSchema })
      return content === undefined ? action : content.name.repeat(content.times)
    }
  })
  const asked: unknown[] = []
  const answered = async (answer: ElicitAnswer): Promise<Json> => {
    const app = await gateway(t, { http: false })
    app.mcp.tools.add(item)
    return await call(
      await createClient(app, {
        elicit: params => {
          asked.push(params.requestedSchema)
          return answer
        }
      })
    )
  }
  t.equal(textOf(await answered({ action: 'accept', content: { name: ' Ada ' } })), 'AdaAda')
  t.match(asked, [
    {
      type: 'object',
      properties: { name: { type: 'string' }, times: { type: 'number', default: 2 } },
      required: ['name']
    }
  ])
  t.equal(textOf(await answered({ action: 'decline' })), 'decline')
  await t.rejects(
    answered({ action: 'accept', content: { name: 'Eve' } }),
    /the answer to elicitation\/create: name: is not welcome/
  )
  await t.rejects(answered({ action: 'accept', content: { name: 7 } }), /name must be string/)
})

/** A schema as other libraries make them: ArkType's are functions, and its messages repeat the path. */
function handMade (vendor: string, more: object): StandardSchema<{ n: number }, { n: string }> {
  const standard = {
    version: 1 as const,
    vendor,
    validate: (value: unknown) => {
      const { n } = value as { n: number }
      return n > 9
        ? {
            issues: [
              { message: 'n must be at most 9', path: [{ key: 'n' }] },
              ...Array.from({ length: 20 }, () => ({ message: 'again' }))
            ]
          }
        : { value: { n: String(n) } }
    },
    jsonSchema: {
      input: () => ({ type: 'object', properties: { n: { type: 'number' } } }),
      output: () => ({ type: 'object', properties: { n: { type: 'string' } } })
    },
    ...more
  }
  return Object.assign(() => {}, { '~standard': standard })
}

t.test('a schema of another library of the family is taken', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: handMade('acme', {}),
    output: handMade('acme', {}),
    run: ({ n }) => ({ n: n.length })
  })
  const connected = await client(t, item)
  t.match(await call(connected, { n: 5 }), { structuredContent: { n: '1' } })
  t.equal(textOf(await call(connected, { n: 10 })), 'Invalid params: arguments of it: n must be at most 9; again')
})

/** A Zod schema of a version without `~standard.jsonSchema`, or without `~standard`. */
const older = (standard: boolean): object => ({
  _def: {},
  safeParse: () => {},
  ...(standard ? { '~standard': { version: 1, vendor: 'zod', validate: () => {} } } : {})
})

const REFUSED: Array<[what: string, member: 'input' | 'output', schema: unknown, sentence: string]> = [
  [
    'Zod before 3.24',
    'input',
    older(false),
    'input: this Zod schema cannot describe itself as JSON Schema; use Zod 4.2 or newer and not zod/mini, or in Zod 4 give z.toJSONSchema(schema)'
  ],
  [
    'Zod before 4.2',
    'output',
    older(true),
    'output: this Zod schema cannot describe itself as JSON Schema; use Zod 4.2 or newer and not zod/mini, or in Zod 4 give z.toJSONSchema(schema)'
  ],
  [
    'Zod mini',
    'input',
    mini.object({}),
    'input: this Zod schema cannot describe itself as JSON Schema; use Zod 4.2 or newer and not zod/mini, or in Zod 4 give z.toJSONSchema(schema)'
  ],
  [
    'Valibot without its wrapper',
    'input',
    handMade('valibot', { jsonSchema: undefined }),
    'input: this Valibot schema cannot describe itself as JSON Schema; wrap it in toStandardJsonSchema(schema) of @valibot/to-json-schema'
  ],
  [
    'another library',
    'input',
    handMade('acme', { jsonSchema: undefined }),
    'input: this acme schema cannot describe itself as JSON Schema; use a version of acme that implements Standard JSON Schema, or give JSON Schema'
  ],
  [
    'an object of Zod schemas',
    'input',
    { name: z.string() },
    'input: an object of Zod schemas is no schema; wrap it in z.object({ ... })'
  ],
  [
    'an object of old Zod schemas',
    'output',
    { name: older(false) },
    'output: an object of Zod schemas is no schema; wrap it in z.object({ ... })'
  ],
  [
    'an object of schemas of another library',
    'input',
    { name: handMade('valibot', {}) },
    'input: an object of Valibot schemas is no schema; wrap it in the object schema of Valibot'
  ],
  [
    'an object of properties',
    'input',
    { name: { type: 'string' } },
    'input must be a schema of type object; wrap the properties in Type.Object({ ... })'
  ],
  [
    'a type that JSON lacks',
    'input',
    z.object({ when: z.date() }),
    'input: Zod has no JSON Schema for it: Date cannot be represented in JSON Schema'
  ],
  ['a schema of another type', 'input', z.string(), 'input must be a schema of type object']
]

for (const [what, member, schema, sentence] of REFUSED) {
  t.test(`refused with what to do: ${what}`, async t => {
    t.throws(() => tool({ name: 'it', description: 'd', [member]: schema, run: () => ({}) }), {
      message: `tool "it": ${sentence}`
    })
  })
}

function resolvers (): { promise: Promise<boolean>, resolve: (value: boolean) => void } {
  let resolve: (value: boolean) => void = () => {}
  const promise = new Promise<boolean>(_resolve => { resolve = _resolve })
  return { promise, resolve }
}
