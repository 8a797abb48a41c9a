import { Type } from '@sinclair/typebox'
import { tool } from '../../app.js'
import { askFor, say } from './questions.js'

const ACCOUNT = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'The user name' },
    email: { type: 'string', description: 'The e-mail address' }
  },
  required: ['username', 'email']
}

const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true }
  }
}

const TITLED = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' }
]

const ENUMS = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: TITLED },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three']
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: TITLED } }
  }
}

/** Tools that put one question to the client. */
export const questionTools = [
  tool({
    name: 'test_sampling',
    description: "Passes a prompt to the client's model.",
    input: Type.Object({ prompt: Type.String() }),
    run: async ({ prompt }, call) => `Model: ${JSON.stringify((await call.sample('reply', say(prompt))).content)}`
  }),
  tool({
    name: 'test_elicitation',
    description: 'Asks the user for an account.',
    input: Type.Object({ message: Type.String() }),
    run: async ({ message }, call) => answerText(await call.elicit('account', { message, requestedSchema: ACCOUNT }))
  }),
  tool({
    name: 'test_elicitation_sep1034_defaults',
    description: 'Asks the user with a form full of defaults.',
    run: async (_input, call) =>
      answerText(await call.elicit('profile', { message: 'Please check these', requestedSchema: DEFAULTS }))
  }),
  tool({
    name: 'test_elicitation_sep1330_enums',
    description: 'Asks the user to choose, in every way there is.',
    run: async (_input, call) =>
      answerText(await call.elicit('choices', { message: 'Please choose', requestedSchema: ENUMS }))
  }),
  tool({
    name: 'test_streaming_elicitation',
    description: 'Asks the user for a name.',
    run: async (_input, call) => answerText(await call.elicit('user_name', askFor('name', 'What is your name?')))
  }),
  tool({
    name: 'test_missing_capability',
    description: 'Needs a client that offers its model.',
    run: async (_input, call) => `Model: ${JSON.stringify((await call.sample('reply', say('Hello'))).content)}`
  })
]

const answerText = (answer: object): string => `The user answered ${JSON.stringify(answer)}`
