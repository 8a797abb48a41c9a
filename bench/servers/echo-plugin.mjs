// The plugin that the gateway serves while it is measured, as an author writes one: `echo`, tools that report progress or ask the client, and as
// many fillers as BENCH_TOOLS says or `fill` is told to. Fillers come behind everything else in the list.
import { setTimeout as sleep } from 'node:timers/promises'
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

/** Progress at once, so that the reply is a stream. */
const stream = tool({
  name: 'bench_stream',
  description: 'Reports progress so many times, then echoes the text',
  input: { type: 'object', properties: { text: { type: 'string' }, events: { type: 'integer' } }, required: ['text', 'events'] },
  run: async ({ text, events }, call) => {
    for (let event = 1; event <= events; event++) call.progress(event, events, text)
    return text
  }
})

/** All processes of a machine have the same monotonic clock, so the client can tell how long ago each event was reported. */
const ticks = tool({
  name: 'bench_ticks',
  description: 'Reports the time, in nanoseconds, after every so many milliseconds, until it is cancelled',
  input: { type: 'object', properties: { every: { type: 'number' } }, required: ['every'] },
  run: async ({ every }, call) => {
    for (let event = 1; !call.signal.aborted; event++) {
      call.progress(event, undefined, String(process.hrtime.bigint()))
      await sleep(every)
    }
    return 'cancelled'
  }
})

const ask = tool({
  name: 'bench_ask',
  description: 'Asks the client for a word and returns it',
  input: { type: 'object' },
  run: async (_, call) => {
    const { content } = await call.elicit('word', { message: 'Which word?', requestedSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] } })
    return content.word
  }
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
  for (const each of [echo, stream, ticks, ask]) fastify.mcp.tools.add(each)
  fastify.mcp.tools.add(tool({
    name: 'bench_fill',
    description: 'Changes how many fillers there are',
    input: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    run: ({ count }) => { fill(count); return String(fillers.length) }
  }))
}
