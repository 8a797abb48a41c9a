import { isObject } from '../../protocol/wire/json.js'
import { fieldsOf, typeInWords, type Fields, type Shape } from './shape.js'
import { fitted, padded, shown, shownInLine, widthOf, wrapped } from './terminal.js'

/** A tool, prompt, resource or template as a server listed it. */
export type Listed = Readonly<Record<string, unknown>>

/** The widest first column of a table. */
const MAX_NAME = 40

/** A row for each entry: its name, and the first sentence of its description. */
export function table (entries: readonly Listed[], key: string, columns: number): string {
  const names = entries.map(entry => shownInLine(String(entry[key])))
  const width = Math.min(MAX_NAME, Math.max(0, ...names.map(widthOf)))
  return names.map((name, index) => {
    const words = firstSentence(entries[index] ?? {})
    if (words === '') return `${name}\n`
    // A name is not cut: it is what a user copies.
    return `${fitted(`${padded(name, width)}  ${words}`, Math.max(columns, widthOf(name)))}\n`
  }).join('')
}

function firstSentence ({ description, title }: Listed): string {
  const text = typeof description === 'string' && description.trim() !== '' ? description : title
  return typeof text === 'string' ? shownInLine(/^[^]*?(?:[.!?](?=\s)|(?=\n\s*[^a-z\s])|$)/.exec(text.trim())?.[0] ?? text) : ''
}

/** A tool with its arguments. */
export function describeTool (tool: Listed, columns: number): string {
  const { name, title, description, inputSchema } = tool
  const { fields, required } = fieldsOf(inputSchema)
  return describeCallable({ name, title, description, fields, required, command: 'call' }, columns)
}

/** A prompt with its arguments, which are texts. */
export function describePrompt ({ name, title, description, arguments: list }: Listed, columns: number): string {
  return describeCallable({ name, title, description, ...promptFields(list), command: 'prompt' }, columns)
}

/** The arguments of a prompt, in the form of those of a tool. */
export function promptFields (list: unknown): Fields {
  const known = (Array.isArray(list) ? list : []).filter(isObject).filter(({ name }) => typeof name === 'string')
  return {
    fields: new Map(known.map(({ name, description, title }) => [name as string, textShape(description ?? title)])),
    required: new Set(known.filter(({ required }) => required === true).map(({ name }) => name as string)),
    takesOthers: false
  }
}

const textShape = (description: unknown): Shape => ({
  types: new Set(['string'] as const),
  choices: undefined,
  items: undefined,
  description: typeof description === 'string' ? description : undefined,
  fallback: undefined
})

interface Callable extends Pick<Fields, 'fields' | 'required'> {
  readonly name: unknown
  readonly title: unknown
  readonly description: unknown
  readonly command: string
}

function describeCallable ({ name, title, description, fields, required, command }: Callable, columns: number): string {
  const head = `${shownInLine(String(name))}${typeof title === 'string' ? `  (${shownInLine(title)})` : ''}`
  const about = typeof description === 'string' ? ['', ...wrapped(shown(description.trim()), columns, '')] : []
  const rows = [...fields].flatMap(([field, shape]) => describeField(field, shape, required.has(field), columns))
  const example = [...fields].filter(([field]) => required.has(field)).map(([field, shape]) => exampleOf(field, shape))
  return [
    head,
    ...about,
    '',
    ...(rows.length === 0 ? ['It takes no arguments.'] : ['Arguments:', ...rows]),
    '',
    `For example: ${['patchbay', command, quote(String(name)), ...example].join(' ')}`,
    ''
  ].join('\n')
}

function describeField (name: string, shape: Shape, isRequired: boolean, columns: number): string[] {
  const { fallback, choices = shape.items?.choices, description } = shape
  const facts = [
    typeInWords(shape),
    ...(isRequired ? ['required'] : []),
    ...(fallback === undefined ? [] : [`${shownInLine(JSON.stringify(fallback))} if it is left out`])
  ].filter(fact => fact !== '')
  const values = choices === undefined ? [] : [`one of ${choices.map(({ value }) => shownInLine(String(value))).join(', ')}`]
  return [
    `  ${shownInLine(name)}  ${facts.join(', ')}`,
    ...[...values, ...(description === undefined ? [] : [shown(description)])]
      .flatMap(text => wrapped(text, columns, '      '))
  ]
}

function exampleOf (name: string, shape: Shape): string {
  const { choices = shape.items?.choices, types, fallback } = shape
  const value = fallback ?? choices?.[0]?.value
  if (value !== undefined) return quote(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  if (types.has('integer') || types.has('number')) return quote(`${name}=1`)
  if (types.has('boolean')) return quote(`${name}=true`)
  return types.has('object') ? quote(`${name}={}`) : quote(`${name}=TEXT`)
}

/** A word as a shell takes it. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${shownInLine(word).replaceAll("'", "'\\''")}'`
