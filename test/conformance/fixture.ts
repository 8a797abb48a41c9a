import type { FastifyInstance } from 'fastify'
import { callTools } from './call-tools.js'
import { changeTools } from './change-tools.js'
import { contentTools } from './content-tools.js'
import { prompts } from './prompts.js'
import { questionTools } from './question-tools.js'
import { resources } from './resources.js'
import { roundTools } from './round-tools.js'
import { taskTools } from './task-tools.js'

/**
 * Everything the official conformance suite expects a server to offer, written with the API every plugin author has.
 */
export default async function conformanceFixture (fastify: FastifyInstance): Promise<void> {
  const tools = [...contentTools, ...callTools, ...questionTools, ...roundTools, ...taskTools, ...changeTools(fastify)]
  for (const tool of tools) fastify.mcp.tools.add(tool)
  for (const resource of resources) fastify.mcp.resources.add(resource)
  for (const prompt of prompts) fastify.mcp.prompts.add(prompt)
  await fastify.mcp.skills.add(new URL('../../../examples/skills/meeting-notes', import.meta.url))
}
