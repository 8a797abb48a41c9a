// What the gateway serves while it is measured, written as an author writes a plugin: `echo`, and as many fillers as BENCH_TOOLS says or
// `fill` is told to. Fillers come behind everything else in the list.
import { tool } from 'mcp-patchbay'

const fillerInput = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What to look for' },
    limit: { type: 'integer', description: 'Most results to return' },
    exact: { type: 'boolean', description: 'Match whole words only' }
  },
  required: ['query']
}

const echo = tool({
  name: 'echo',
  description: 'Echoes the text it was given',
  input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  run: async ({ text }) => text
})

const filler = number => tool({
  name: `lookup_${String(number).padStart(5, '0')}`,
  description: `Looks a record up in catalogue ${number} and returns the best matches as text`,
  input: fillerInput,
  run: async ({ query }) => `no match for ${query}`
})

export default async function bench (fastify) {
  const fillers = []
  const fill = count => {
    while (fillers.length > count) fastify.mcp.tools.remove(fillers.pop().name)
    while (fillers.length < count) {
      fillers.push(filler(fillers.length))
      fastify.mcp.tools.add(fillers.at(-1))
    }
  }
  fill(Math.max(0, Number(process.env.BENCH_TOOLS ?? 1) - 1))
  fastify.mcp.tools.add(echo)
  fastify.mcp.tools.add(tool({
    name: 'bench_fill',
    description: 'Changes how many fillers there are',
    input: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    run: ({ count }) => { fill(count); return String(fillers.length) }
  }))
}
