import { HOSTILE } from './hostile-strings.js'
import { Refusal, type Answers, type Json } from './scripted-server.js'

/** All of them in one text, for places that there is only one of. */
export const ALL = HOSTILE.join('\n')

const META = 'io.modelcontextprotocol/'

const SCHEMA: Json = {
  type: 'object',
  title: ALL,
  description: ALL,
  properties: Object.fromEntries(
    HOSTILE.map((text, index) => [
      text,
      {
        type: 'string',
        title: text,
        description: text,
        ...(index % 2 === 0
          ? { enum: HOSTILE.slice(0, index % 4 === 0 ? 4 : undefined), default: text }
          : { default: text, pattern: `(${text}`, examples: [text] })
      }
    ])
  )
}

const tools = [
  ...HOSTILE.map(text => ({
    name: text,
    title: text,
    description: text,
    annotations: { title: text },
    inputSchema: { type: 'object' }
  })),
  {
    name: 'all',
    title: ALL,
    description: ALL,
    annotations: { title: ALL, destructiveHint: false, readOnlyHint: true },
    inputSchema: SCHEMA,
    outputSchema: SCHEMA,
    _meta: { text: ALL },
    icons: [{ src: 'http://evil.example/icon.png' }]
  },
  { name: 'error', description: 'Fails', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } },
  { name: 'ask', description: 'Asks', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }
]

const blocks = [
  ...HOSTILE.map(text => ({ type: 'text', text, annotations: { audience: [text], lastModified: text } })),
  ...HOSTILE.map(text => ({
    type: 'resource_link',
    uri: text,
    name: text,
    title: text,
    description: text,
    mimeType: text
  })),
  ...HOSTILE.map(text => ({ type: 'resource', resource: { uri: text, mimeType: text, text } })),
  {
    type: 'image',
    data: Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" onload="parent.__xss=1"><script>parent.__xss=1</script><image href="http://evil.example/i.png"/></svg>'
    ).toString('base64'),
    mimeType: 'image/svg+xml'
  },
  { type: 'image', data: 'not base64 "><script>', mimeType: 'text/html' },
  { type: ALL, text: ALL }
]

const questions = Object.fromEntries([
  ...HOSTILE.slice(0, 6).map(
    (text, index) =>
      [
        `form ${index}`,
        {
          method: 'elicitation/create',
          params: {
            message: ALL,
            requestedSchema: {
              type: 'object',
              properties: { [text]: { type: 'string', title: ALL, description: ALL, enum: HOSTILE } },
              required: [text]
            }
          }
        }
      ] as const
  ),
  ...HOSTILE.map(
    (text, index) =>
      [
        `url ${index}`,
        { method: 'elicitation/create', params: { mode: 'url', message: text, url: text, elicitationId: text } }
      ] as const
  ),
  [
    'sample',
    {
      method: 'sampling/createMessage',
      params: {
        systemPrompt: ALL,
        messages: HOSTILE.map(text => ({ role: 'user', content: { type: 'text', text } })),
        modelPreferences: { hints: [{ name: ALL }] },
        maxTokens: 10
      }
    }
  ]
])

/** Ends the call of the tool `all`, which stays open until then. */
export const openCall: { end?: () => void } = {}

/** A server that puts hostile texts wherever a server's text can stand. */
export const hostileServer: Answers = {
  'server/discover': () => ({
    supportedVersions: ['2026-07-28'],
    instructions: ALL,
    capabilities: {
      tools: {},
      resources: { subscribe: true },
      prompts: {},
      completions: {},
      logging: {},
      extensions: { 'patchbay/watch': {} }
    },
    _meta: { [`${META}serverInfo`]: { name: ALL, title: ALL, version: ALL } }
  }),
  'subscriptions/listen': (_params, tell, id) => {
    tell({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: {}, _meta: { [`${META}subscriptionId`]: id } }
    })
    return undefined
  },
  'tools/list': () => ({ tools }),
  'resources/list': () => ({
    resources: HOSTILE.map(text => ({ uri: text, name: text, title: text, description: text, mimeType: text }))
  }),
  'resources/templates/list': () => ({
    resourceTemplates: HOSTILE.map((text, index) => ({
      uriTemplate: `${text}{id${index}}`,
      name: text,
      title: text,
      description: text
    }))
  }),
  'prompts/list': () => ({
    prompts: [
      {
        name: 'all',
        title: ALL,
        description: ALL,
        arguments: HOSTILE.map(text => ({ name: text, title: text, description: text }))
      },
      ...HOSTILE.map(text => ({ name: text, title: text, description: text }))
    ]
  }),
  'completion/complete': () => ({ completion: { values: HOSTILE } }),
  'prompts/get': () => ({
    description: ALL,
    messages: HOSTILE.map(text => ({ role: 'user', content: { type: 'text', text } }))
  }),
  'resources/read': ({ uri }) => ({ contents: HOSTILE.map(text => ({ uri, mimeType: 'text/html', text })) }),
  'tools/call': ({ name, inputResponses }, tell, id) => {
    if (name === 'error') {
      throw new Refusal(-32602, ALL, { errors: HOSTILE.map(text => ({ path: `/${text}`, message: text })) })
    }
    if (name === 'ask') {
      return inputResponses === undefined
        ? { resultType: 'input_required', inputRequests: questions, requestState: 'state' }
        : { content: [] }
    }
    for (const text of HOSTILE) {
      tell({
        method: 'notifications/message',
        params: { level: 'info', logger: text, data: { [text]: text }, _meta: { 'patchbay/requestId': id } }
      })
    }
    tell({ method: 'notifications/progress', params: { progressToken: id, progress: 1, total: 2, message: ALL } })
    if (name === 'all') {
      openCall.end = () =>
        tell({
          id,
          result: {
            resultType: 'complete',
            content: blocks,
            structuredContent: Object.fromEntries(HOSTILE.map(text => [text, { [text]: [text] }]))
          }
        })
    } else return { content: [], isError: true }
    return undefined
  },
  'patchbay/watch': (_params, tell, id) => {
    tell({
      method: 'notifications/patchbay/watch',
      params: { requestId: id, ...batch(), _meta: { [`${META}subscriptionId`]: id } }
    })
    return undefined
  }
}

function batch (): Json {
  const at = Date.now()
  const who = (text: string): Json => ({
    method: text,
    tool: text,
    upstream: text,
    principal: text,
    client: text,
    transport: text,
    revision: text
  })
  return {
    at,
    gateway: { name: ALL, version: ALL, node: ALL, startedAt: at - 1_000 },
    ended: HOSTILE.map(text => ({ at, ms: 1, outcome: text, code: -1, ...who(text) })),
    inFlight: {
      total: HOSTILE.length,
      rows: HOSTILE.map((text, index) => ({
        key: `${index}`,
        startedAt: at,
        question: text,
        progress: 1,
        total: 2,
        ...who(text)
      }))
    },
    tools: HOSTILE.map(text => ({ name: text, calls: 2, errors: 1, p50: 1, p95: 2, p99: 3 })),
    totals: { calls: 2, errors: 1, p50: 1, p95: 2, p99: 3 },
    seconds: [{ at: at - 1_000, calls: 2, errors: 1, p50: 1, p95: 2, p99: 3 }],
    clients: {
      total: HOSTILE.length,
      sessions: 0,
      rows: HOSTILE.map((text, index) => ({ key: `${index}`, session: false, since: at, inFlight: 0, ...who(text) }))
    },
    refusals: HOSTILE.map(text => ({ reason: text, status: 403, count: 1, last: at })),
    upstreams: HOSTILE.map(text => ({
      alias: text,
      state: text,
      since: at,
      lastError: text,
      lastLines: [text, text],
      repaired: text,
      warnings: [text],
      pins: { mode: text, differences: [text], marks: [text, 7] }
    })),
    nodes: HOSTILE.map((text, index) => ({ id: text, self: index === 0 })),
    health: { status: ALL, ready: false, reason: ALL, parts: { [ALL]: ALL } }
  }
}
