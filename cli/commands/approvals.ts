import { readFileSync } from 'node:fs'
import { ask, type Asking } from '../ask/ask.js'
import { EXIT } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { readInvocation } from '../ask/invocation.js'
import { shownInLine, shownJson } from '../ask/terminal.js'
import { readArguments } from '../ask/read-arguments.js'
import { fieldsOf, typeInWords } from '../ask/shape.js'
import type { Command } from './command.js'

const USAGE = 'patchbay approvals [list | ACTION ID [FIELD=VALUE...]] [OPTION]...'
const DECISIONS = ['approve', 'decline', 'answer']

/** `patchbay approvals`. */
export const command: Command = {
  help: `Usage: ${USAGE}

Prints the calls that wait for an operator with all that they would do, or
answers one of them, by a beginning of its ID: ACTION is approve, decline or
answer. The key needs the scope admin.
What is approved is the call as listed: with other arguments it is another.
A question of a call is answered with the fields of its form, as FIELD=VALUE,
FIELD:=JSON or FIELD=@FILE.

${SERVERS}

For example: patchbay approvals approve 3f2a --key operator.key
`,
  run: async argv => {
    const given = readInvocation(argv, { json: { type: 'boolean' } }, process.env, process.cwd())
    const [action = 'list', id, ...fields] = given.words
    const isKnown = action === 'list' ? id === undefined : DECISIONS.includes(action) && id !== undefined
    if (!isKnown || (fields.length > 0 && action !== 'answer')) {
      throw new Error(`one of list, approve ID, decline ID and answer ID FIELD=VALUE...: ${USAGE}`)
    }
    const invocation = given.values['json'] === true ? { ...given, format: 'json' as const } : given
    await ask(invocation, async asking => {
      return id === undefined ? await list(asking) : await decide(asking, action, id, fields)
    })
  }
}

interface Waiting {
  id: string
  digest: string
  expires: number
  caller: string
  name: string
  view?: string
  rule: string
  message?: string
  fixed?: string[]
  form?: { message: string, requestedSchema: unknown }
  arguments: unknown
}

async function read ({ client, signal }: Asking): Promise<Waiting[]> {
  const { approvals } = await client.request('patchbay/approvals', {}, signal) as { approvals: Waiting[] }
  return approvals
}

async function list (asking: Asking): Promise<number> {
  const { format, notes, print } = asking
  const waiting = await read(asking)
  if (format === 'json') await print(`${JSON.stringify(waiting)}\n`)
  else if (waiting.length === 0) notes.say('No call waits for an approval.')
  else await print(waiting.map(describe).join('\n'))
  return EXIT.done
}

function describe (waiting: Waiting): string {
  const { id, caller, view, name, rule, message, fixed, form, expires, arguments: given } = waiting
  const left = Math.max(0, Math.round((expires - Date.now()) / 1_000))
  const place = view === undefined ? rule : `${rule}, view ${view}`
  const json = shownJson(JSON.stringify(given, undefined, 2)).replaceAll('\n', '\n  ')
  const line = (text: string): string => `  ${shownInLine(text)}\n`
  return [
    `${shownInLine(id)}\n`,
    line(`${name} for ${caller} (${place}, ${left} s left)`),
    form === undefined ? '' : line(`asks: ${form.message}`) + describeFields(form.requestedSchema) + line('called with'),
    message === undefined ? '' : line(message),
    `  ${json}\n`,
    fixed === undefined ? '' : line(`An operator fixed the value of: ${fixed.join(', ')}`)
  ].join('')
}

function describeFields (schema: unknown): string {
  const { fields, required } = fieldsOf(schema)
  return [...fields].map(([name, shape]) => {
    const choices = shape.choices?.map(({ value }) => JSON.stringify(value)).join(', ')
    const need = required.has(name) ? '' : ', optional'
    const about = shape.description === undefined ? '' : `: ${shape.description}`
    return `    ${shownInLine(`${name} (${choices ?? typeInWords(shape)}${need})${about}`)}\n`
  }).join('')
}

/** Answers the call that a beginning of its id names, as it is listed now. */
async function decide (asking: Asking, action: string, start: string, words: readonly string[]): Promise<number> {
  const { client, signal, notes } = asking
  const found = (await read(asking)).filter(({ id }) => id === start || id.split('.')[1]?.startsWith(start) === true)
  const [one] = found
  if (one === undefined) throw new Error(`no call of the id "${start}" waits for an approval`)
  if (found.length > 1) {
    throw new Error(`more than one call has an id that begins so: ${found.map(({ id }) => id).join(', ')}`)
  }
  const { id, digest, form } = one
  if (action === 'answer' && form === undefined) throw new Error('this call asks no question: approve or decline it')
  const decision = action === 'decline' ? action : 'approve'
  const content = form === undefined || decision === 'decline' ? undefined : contentOf(words, form.requestedSchema)
  const answer = { id, decision, digest, ...(content !== undefined && { content }) }
  await client.request('patchbay/approvals/decide', answer, signal)
  const done = decision === 'decline' ? 'Declined' : content === undefined ? 'Approved' : 'Answered'
  notes.say(`${done}: ${shownInLine(`${one.name} for ${one.caller}`)}`)
  return EXIT.done
}

/** The content of a form, of words such as `name=Ada`. */
function contentOf (words: readonly string[], schema: unknown): Record<string, unknown> {
  const shape = { ...fieldsOf(schema), takesOthers: false }
  return readArguments(words, {}, shape, { file: path => readFileSync(path, 'utf8') })
}
