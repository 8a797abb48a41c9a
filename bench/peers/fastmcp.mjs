// With a port it serves HTTP, without one standard input and output.
import { FastMCP } from 'fastmcp'
import { asSchema, echoDescription, echoShape, fillers, fillerShape, SERVER } from './tools.mjs'

const [port] = process.argv.slice(2)
const silent = { debug () {}, error () {}, info () {}, log () {}, warn () {} }
const server = new FastMCP({ ...SERVER, logger: silent })
server.addTool({ name: 'echo', description: echoDescription, parameters: asSchema(echoShape), execute: async ({ text }) => text })
for (const { name, description } of fillers) {
  server.addTool({ name, description, parameters: asSchema(fillerShape), execute: async ({ query }) => `no match for ${query}` })
}
await server.start(port === undefined ? { transportType: 'stdio' } : { transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1' } })
