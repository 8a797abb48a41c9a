import { tool, ToolError, Type, type Call } from 'mcp-patchbay'

export default tool({
  name: 'hello',
  description: 'Greets a person by name, and asks for the name if there is none.',
  input: Type.Object({
    name: Type.Optional(Type.String()),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 3 }))
  }),
  output: Type.Object({ greetings: Type.Array(Type.String()) }),
  text: ({ greetings }) => greetings.join(' '),
  run: async ({ name, times = 1 }, call) => {
    const person = name ?? await askName(call)
    const greetings: string[] = []
    for (let count = 1; count <= times; count++) {
      greetings.push(`Hello, ${person}!`)
      call.progress(count, times)
    }
    return { greetings }
  }
})

async function askName (call: Call): Promise<string> {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const { action, content } = await call.elicit('name', { message: 'Who is it?', requestedSchema })
  if (action !== 'accept') throw new ToolError('No name was given.')
  return String(content?.name)
}
