import { createHash } from 'node:crypto'
import { isObject } from '../../protocol/wire/json.js'
import type { Entry } from './lists.js'
import { placeSchema } from './schema-components.js'

/** Facts about the gateway that its document names. */
export interface Described {
  readonly title: string
  readonly version: string
  readonly description: string | undefined
  /** The URL that the paths are below. */
  readonly url: string
  /** True where callers need a credential. */
  readonly isGuarded: boolean
}

const PROBLEM = {
  type: 'object',
  required: ['title', 'status', 'detail'],
  properties: {
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was wrong, and what to do' },
    code: { type: 'string', description: 'The name of the cause, which does not change from version to version' },
    errors: {
      type: 'array',
      description: 'What is wrong with the arguments, one by one; path is a JSON pointer',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } }
      }
    }
  }
}

const QUESTION = {
  type: 'object',
  required: ['title', 'status', 'detail', 'questions', 'answersAt'],
  properties: {
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    questions: { type: 'object', description: 'What is asked, by key: a method and params of MCP' },
    state: { type: 'string', description: 'To be sent back with the answers' },
    answersAt: { type: 'string', description: 'The path to which arguments, state and answers are sent' }
  }
}

const ACCEPTED = {
  type: 'object',
  required: ['status', 'call', 'resultAt'],
  properties: {
    status: { const: 'working' },
    call: { type: 'string', description: 'The URI of the call, which the tool get_result takes' },
    resultAt: { type: 'string', description: 'The path at which its state and its result are read' }
  }
}

const ANSWERS = {
  Problem: ['The call was refused or could not be made', 'Problem'],
  Failure: ['The tool was run and says that it failed', 'Problem'],
  Question: ['The tool asks before it goes on', 'Question']
} as const

const reference = (response: keyof typeof ANSWERS) => ({ $ref: `#/components/responses/${response}` })

/** The statuses that a call may have besides 200. */
const RESPONSES = {
  400: reference('Problem'),
  401: reference('Problem'),
  403: reference('Problem'),
  404: reference('Problem'),
  409: reference('Question'),
  422: reference('Failure'),
  429: reference('Problem'),
  500: reference('Problem'),
  502: reference('Problem'),
  503: reference('Problem'),
  504: reference('Problem')
}

/**
 * The OpenAPI document (3.1) of these tools, each as one POST. `canGoOn` is true for a tool whose calls may be answered
 * before they have ended.
 */
export function openApiDocument (
  tools: readonly Entry[],
  described: Described,
  canGoOn: (name: string) => boolean
): object {
  const { title, version, description, url, isGuarded } = described
  const schemas = new Map<string, unknown>([['Problem', PROBLEM], ['Question', QUESTION]])
  const paths = tools.map(tool => {
    const name = String(tool.name)
    const responses = canGoOn(name) ? { 202: accepted(schemas), ...RESPONSES } : RESPONSES
    return [`/tools/${encodeURIComponent(name)}`, { post: operation(tool, operationId(name), schemas, responses) }]
  })
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: [{ url }],
    ...(isGuarded ? { security: [{ bearer: [] }] } : {}),
    paths: Object.fromEntries(paths) as object,
    components: {
      schemas: Object.fromEntries(schemas),
      responses: Object.fromEntries(Object.entries(ANSWERS).map(([name, [text, schema]]) => [name, {
        description: text,
        content: { 'application/problem+json': { schema: { $ref: `#/components/schemas/${schema}` } } }
      }])),
      ...(isGuarded ? { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } } : {})
    }
  }
}

function accepted (schemas: Map<string, unknown>): object {
  schemas.set('Accepted', ACCEPTED)
  return {
    description: 'The call goes on',
    headers: { location: { description: 'The same as resultAt', schema: { type: 'string' } } },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Accepted' } } }
  }
}

/** The most characters of the name of a function of a model. */
const MAX_ID = 64
const HASH = 6

/**
 * The name of a tool as importers make functions of models of it, whose names are shorter and plainer:
 * one that is not such a name gets a hash, so that no two are equal.
 */
function operationId (name: string): string {
  const id = name.replace(/[^A-Za-z0-9_-]/g, '_')
  if (id === name && id.length <= MAX_ID) return id
  return `${id.slice(0, MAX_ID - HASH - 1)}_${createHash('sha256').update(name).digest('hex').slice(0, HASH)}`
}

const INPUT = { isInput: true }
const OUTPUT = { isInput: false }

function operation (tool: Entry, operationId: string, schemas: Map<string, unknown>, others: object): object {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  const summary = title ?? (isObject(annotations) ? annotations.title : undefined)
  return {
    operationId,
    ...(typeof summary === 'string' ? { summary } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: placeSchema(inputSchema, `${String(name)}.input`, schemas, INPUT) } }
    },
    responses: {
      200: {
        description: 'The result of the tool',
        content: { 'application/json': { schema: placeSchema(outputSchema, `${String(name)}.output`, schemas, OUTPUT) } }
      },
      ...others
    }
  }
}
