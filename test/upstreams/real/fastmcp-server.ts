import { FastMCP, UserError } from 'fastmcp'
import { z } from 'zod'

const NAMES = ['Ada', 'Alan', 'Barbara']
const complete = async (value: string) => ({ values: NAMES.filter(name => name.startsWith(value)) })

// A server of the framework fastmcp: on the port that is given, or on standard input and output.
const server = new FastMCP({ name: 'fastmcp', version: '1.0.0', instructions: 'Ask fast.' })

server.addTool({
  name: 'greet',
  description: 'Greets',
  parameters: z.object({ name: z.string() }),
  execute: async ({ name }) => `Hello, ${name}!`
})
server.addTool({
  name: 'fail',
  description: 'Fails in its own words',
  execute: async () => {
    throw new UserError('not today')
  }
})
server.addTool({
  name: 'steps',
  description: 'Reports progress and waits until the client has read it',
  parameters: z.object({ steps: z.number() }),
  execute: async ({ steps }, { reportProgress }) => {
    // Taken first: the client may be quicker than the end of the last report.
    const { promise } = seen
    for (let progress = 1; progress <= steps; progress++) await reportProgress({ progress, total: steps })
    await promise
    return `${steps} steps`
  }
})
server.addTool({
  name: 'ended',
  description: 'Ends the tool that waits',
  execute: async () => {
    seen.resolve()
    seen = pending()
    return 'ended'
  }
})
// Its log messages travel apart from the response, and may come after it.
server.addTool({
  name: 'say',
  description: 'Logs and waits until the client has read it',
  parameters: z.object({ text: z.string() }),
  execute: async ({ text }, { log }) => {
    const { promise } = seen
    log.warn(text)
    await promise
    return 'said'
  }
})
server.addResource({
  uri: 'motd://today',
  name: 'motd',
  mimeType: 'text/plain',
  load: async () => ({ text: 'Be kind.' })
})
server.addResourceTemplate({
  uriTemplate: 'person://{name}',
  name: 'person',
  mimeType: 'text/plain',
  arguments: [{ name: 'name', required: true, complete }],
  load: async ({ name }) => ({ text: `About ${name}` })
})
server.addPrompt({
  name: 'poem',
  description: 'Writes a poem',
  arguments: [{ name: 'about', required: true, complete }],
  load: async ({ about }) => `Write a poem about ${about}.`
})

let seen = pending()
const port = process.argv[2]
await server.start(
  port === undefined
    ? { transportType: 'stdio' }
    : { transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1' } }
)
if (port !== undefined) process.stderr.write(`on port ${port}\n`)

function pending (): { promise: Promise<void>, resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(_resolve => { resolve = _resolve })
  return { promise, resolve }
}
