import { tool, type Call } from '../../app.js'
import { askFor, say } from './questions.js'

const PREFIX = 'test_input_required_result_'
const NAME = askFor('name', 'What is your name?')
const CONFIRM = askFor('ok', 'Please confirm', 'boolean')

/** Tools that need one or more rounds with a client of the stateless revision; older clients are simply asked. */
export const roundTools = [
  round('elicitation', 'Asks for a name and greets.', async call => {
    const { action, content } = await call.elicit('user_name', NAME)
    return action === 'accept' ? `Hello, ${String(content?.name)}!` : 'Hello, whoever you are!'
  }),
  round('sampling', "Asks the client's model.", async call => {
    const { content } = await call.sample('capital_question', say('What is the capital of France?'))
    return `Model: ${JSON.stringify(content)}`
  }),
  round('list_roots', 'Asks for the roots.', async call =>
    `Roots: ${(await call.roots('client_roots')).map(({ uri }) => uri).join(', ')}`),
  round('request_state', 'Remembers something between the rounds.', async call => {
    const remembered = await call.once('remembered', () => 'state-ok')
    await call.elicit('confirm', CONFIRM)
    return remembered
  }),
  round('multiple_inputs', 'Asks three things at once.', async call => answerText(await call.ask({
    user_name: { method: 'elicitation/create', params: NAME },
    greeting: { method: 'sampling/createMessage', params: say('Generate a greeting', 50) },
    client_roots: { method: 'roots/list', params: {} }
  }))),
  round('multi_round', 'Asks one thing after the other.', async call => {
    const first = await call.elicit('step1', askFor('name', 'Step 1: What is your name?'))
    const second = await call.elicit('step2', askFor('color', 'Step 2: What is your favorite color?'))
    return answerText({ ...first.content, ...second.content })
  }),
  round('tampered_state', 'Trusts only a state of its own.', async call =>
    answerText(await call.elicit('confirm', CONFIRM))),
  round('capabilities', 'Asks only what the client can answer.', async call =>
    answerText(call.can('elicitation/create')
      ? await call.elicit('user_name', NAME)
      : await call.sample('greeting', say('Generate a greeting', 50))))
]

function round (suffix: string, description: string, run: (call: Call) => Promise<string>) {
  return tool({ name: PREFIX + suffix, description, run: async (_input, call) => await run(call) })
}

function answerText (answer: object): string {
  return `The client answered ${JSON.stringify(answer)}`
}
