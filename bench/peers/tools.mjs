// The tools that every peer serves, with schemas that are made once: how many, BENCH_TOOLS says.
import * as z from 'zod/v4'

export const SERVER = { name: 'bench', version: '1.0.0' }
export const echoShape = { text: z.string() }
export const echoDescription = 'Echoes the text it was given'
export const fillerShape = {
  query: z.string().describe('What to look for'),
  limit: z.number().int().optional().describe('Most results to return'),
  exact: z.boolean().optional().describe('Match whole words only')
}
export const fillers = Array.from({ length: Math.max(0, Number(process.env.BENCH_TOOLS ?? 1) - 1) }, (_, number) => ({
  name: `lookup_${String(number).padStart(5, '0')}`,
  description: `Looks a record up in catalogue ${number} and returns the best matches as text`
}))

const said = text => ({ content: [{ type: 'text', text }] })

/** Adds them to an McpServer: the first SDK takes shapes, the second takes schemas. */
export function addTools (server, schemaOf) {
  server.registerTool('echo', { description: echoDescription, inputSchema: schemaOf(echoShape) }, async ({ text }) => said(text))
  for (const { name, description } of fillers) {
    server.registerTool(name, { description, inputSchema: schemaOf(fillerShape) }, async ({ query }) => said(`no match for ${query}`))
  }
  return server
}

const schemas = new Map([echoShape, fillerShape].map(shape => [shape, z.object(shape)]))
export const asShape = shape => shape
export const asSchema = shape => schemas.get(shape)
