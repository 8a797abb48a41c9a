import { prompt } from '../../app.js'
import { askFor } from './questions.js'
import { PNG } from './samples.js'

/** Prompts with and without arguments, one kind of content each, and one that asks first. */
export const prompts = [
  prompt({
    name: 'test_simple_prompt',
    description: 'Takes nothing.',
    get: () => 'This is a simple prompt for testing.'
  }),
  prompt({
    name: 'test_prompt_with_arguments',
    description: 'Repeats its arguments.',
    arguments: {
      arg1: {
        description: 'The first argument',
        required: true,
        complete: typed => ['test', 'testing', 'tested'].filter(word => word.startsWith(typed))
      },
      arg2: { description: 'The second argument', required: true }
    },
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`
  }),
  prompt({
    name: 'test_prompt_with_embedded_resource',
    description: 'Embeds a resource.',
    arguments: { resourceUri: { description: 'The URI to embed', required: true } },
    get: ({ resourceUri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded for testing.' }
        }
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } }
    ]
  }),
  prompt({
    name: 'test_prompt_with_image',
    description: 'Shows an image.',
    get: () => [
      { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } }
    ]
  }),
  prompt({
    name: 'test_input_required_result_prompt',
    description: 'Asks the user before it answers.',
    get: async (_given, call) => {
      const { action, content } = await call.elicit(
        'user_context',
        askFor('context', 'What context should the prompt use?')
      )
      return action === 'accept' ? `Use this context: ${String(content?.context)}` : 'Use no context.'
    }
  })
]
