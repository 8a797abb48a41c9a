import type { FastifyInstance } from 'fastify'
import { prompt, tool } from '../../app.js'

const extraTool = tool({ name: 'test_zz_extra_tool', description: 'Comes and goes.', run: () => 'Here for now.' })
const extraPrompt = prompt({ name: 'test_zz_extra_prompt', description: 'Comes and goes.', get: () => 'Here for now.' })

/** Tools that change the lists while clients watch. */
export const changeTools = ({ mcp: { tools, prompts } }: FastifyInstance) => [
  tool({
    name: 'test_trigger_tool_change',
    description: 'Adds a tool, or removes it again.',
    run: () => {
      if (!tools.remove(extraTool.name)) tools.add(extraTool)
      return 'The list of tools changed.'
    }
  }),
  tool({
    name: 'test_trigger_prompt_change',
    description: 'Adds a prompt, or removes it again.',
    run: () => {
      if (!prompts.remove(extraPrompt.name)) prompts.add(extraPrompt)
      return 'The list of prompts changed.'
    }
  })
]
