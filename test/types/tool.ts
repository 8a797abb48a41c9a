// Compiled, never run: each line that must not compile says so. A mistake that compiles is an error here.
import { Type } from '@sinclair/typebox'
import { prompt, resource, tool, type Call } from '../../app.js'

/** True when both types are the same, in both directions. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

const same = <A, B>(_proof: Same<A, B>): void => {}

const Input = Type.Object({
  n: Type.Number(),
  note: Type.Optional(Type.String()),
  mood: Type.Union([Type.Literal('calm'), Type.Literal('loud')])
})
const Output = Type.Object({ double: Type.Number() })

// The input has the type its schema describes.
tool({
  name: 'typed',
  description: 'd',
  input: Input,
  run: (input, call) => {
    same<typeof input, { note?: string, n: number, mood: 'calm' | 'loud' }>(true)
    same<typeof call, Call>(true)
    // @ts-expect-error the schema has no such property
    void input.missing
    // @ts-expect-error a number is no string
    input.n.toUpperCase()
    // @ts-expect-error an optional property may be undefined
    return input.note.length
  }
})

// What is returned must fit the output schema, at once or later.
tool({ name: 'fits', description: 'd', output: Output, run: () => ({ double: 2 }) })
tool({ name: 'fits', description: 'd', output: Output, run: async () => ({ double: 2 }) })
// @ts-expect-error a string where the schema says number
tool({ name: 'wrong', description: 'd', output: Output, run: () => ({ double: '2' }) })
// @ts-expect-error a string where the schema says number, in a promise
tool({ name: 'wrong', description: 'd', output: Output, run: async () => ({ double: '2' }) })
// @ts-expect-error a property is missing
tool({ name: 'wrong', description: 'd', output: Output, run: () => ({}) })
// @ts-expect-error text is no object
tool({ name: 'wrong', description: 'd', output: Output, run: () => 'text' })
// @ts-expect-error nothing is no object
tool({ name: 'wrong', description: 'd', output: Output, run: () => {} })

// The text is made from the output and the input, both typed.
tool({
  name: 'rendered',
  description: 'd',
  input: Input,
  output: Output,
  text: (output, input) => {
    same<typeof output, { double: number }>(true)
    same<typeof input.n, number>(true)
    return `${input.n} ${output.double}`
  },
  run: ({ n }) => ({ double: 2 * n })
})
// @ts-expect-error the text is a string
tool({ name: 'rendered', description: 'd', output: Output, text: ({ double }) => double, run: () => ({ double: 2 }) })

// Without an output schema a tool may return what docs/write-a-tool.md lists.
for (const value of [
  'text',
  1,
  true,
  null,
  undefined,
  { a: 1 },
  [{ type: 'text' as const, text: 'x' }],
  { content: [] }
]) {
  tool({ name: 'free', description: 'd', run: () => value })
}
tool({ name: 'nothing', description: 'd', run: () => {} })
// @ts-expect-error a BigInt cannot be sent
tool({ name: 'wrong', description: 'd', run: () => 1n })
// @ts-expect-error a tool needs a description
tool({ name: 'wrong', run: () => '' })
// @ts-expect-error a tool needs something to run
tool({ name: 'wrong', description: 'd' })
// @ts-expect-error there is no such hint
tool({ name: 'wrong', description: 'd', annotations: { safe: true }, run: () => '' })

// Plain JSON Schema is accepted; TypeScript knows nothing of it.
tool({
  name: 'plain',
  description: 'd',
  input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  output: { type: 'object' },
  run: input => {
    same<typeof input, Record<string, unknown>>(true)
    // @ts-expect-error it may be anything
    return { double: input['n'] * 2 }
  }
})

// A required argument of a prompt is a string, another may be undefined.
prompt({
  name: 'typed',
  arguments: { who: { required: true }, style: { description: 'how' }, tone: { required: false } },
  get: given => {
    same<typeof given.who, string>(true)
    same<typeof given.style, string | undefined>(true)
    same<typeof given.tone, string | undefined>(true)
    // @ts-expect-error there is no such argument
    void given.missing
    return given.who
  }
})
prompt({ name: 'messages', get: () => [{ role: 'user', content: { type: 'text', text: 'x' } }] })
// @ts-expect-error a prompt is text or messages
prompt({ name: 'wrong', get: () => 7 })
// @ts-expect-error there is no such role
prompt({ name: 'wrong', get: () => [{ role: 'system', content: { type: 'text', text: 'x' } }] })

// Variables of a template are strings; those of an expression with an operator may be missing.
resource({
  uri: 'a://{b}/{+c}',
  name: 'r',
  read: variables => {
    same<typeof variables.b, string>(true)
    same<typeof variables.c, string>(true)
    return 'x'
  }
})
resource({
  uri: 'a://{b:3}{?d,e*}',
  name: 'r',
  read: variables => {
    same<typeof variables.d, string | undefined>(true)
    same<typeof variables.e, string | undefined>(true)
    return variables.b
  }
})
// @ts-expect-error there is no such variable
resource({ uri: 'a://{b}', name: 'r', read: variables => variables.x })
resource({ uri: 'a://b', name: 'r', read: async () => new Uint8Array() })
// @ts-expect-error a number is no content
resource({ uri: 'a://b', name: 'r', read: () => 7 })

// What a call may do.
tool({
  name: 'calls',
  description: 'd',
  run: async (_input, call) => {
    same<Awaited<ReturnType<typeof call.elicit>>['action'], 'accept' | 'decline' | 'cancel'>(true)
    same<typeof call.signal, AbortSignal>(true)
    const { content } = await call.elicit('who', {
      message: 'm',
      requestedSchema: Type.Object({ name: Type.String() })
    })
    content?.name.toUpperCase()
    // @ts-expect-error the form has no such field
    void content?.missing
    const { a, b } = await call.ask({
      a: { method: 'roots/list', params: {} },
      b: { method: 'roots/list', params: {} }
    })
    void [a, b]
    same<number, Awaited<ReturnType<typeof call.once<number>>>>(true)
    // @ts-expect-error no such question was asked
    void (await call.ask({ a: { method: 'roots/list', params: {} } })).c
    // @ts-expect-error there is no such level
    call.log('loud', 'x')
    // @ts-expect-error a question to the model needs a limit
    await call.sample('s', { messages: [] })
  }
})

// What the user accepted has the type of the form, and there is none of what was declined.
tool({
  name: 'asks',
  description: 'd',
  run: async (_input, call) => {
    const answer = await call.elicit('size', {
      message: 'Which?',
      requestedSchema: Type.Object({ size: Type.Number() })
    })
    // @ts-expect-error it may have been declined
    void answer.content.size
    const { action, content } = answer
    if (action !== 'accept') {
      same<typeof content, undefined>(true)
      return 'declined'
    }
    same<typeof content, { size: number }>(true)
    const { content: nothing } = await call.elicit('page', { message: 'Open it', url: 'https://example.com' })
    same<typeof nothing, undefined>(true)
    return String(content.size) + String(nothing)
  }
})
