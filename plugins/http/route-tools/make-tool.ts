import { isIP } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { tool, type Tool } from '../../../protocol/definitions/tool.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { errors, ToolError } from '../../../protocol/wire/errors.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { CallToolResult } from '../../../protocol/wire/content.js'
import { readRouteUrl, type RouteUrl } from './route-url.js'
import { routeInput, type FoundRoute, type RouteInput } from './route-input.js'
import { readReply } from './route-reply.js'
import { failureText, routeResult } from './route-result.js'

/** The look of a tool that is a route: `config.mcp` of the route. */
export interface RouteLook { name?: string, title?: string, description?: string, scopes?: readonly string[] }

/** Everything that a call of a route needs of the application. */
export interface RouteHost {
  readonly app: FastifyInstance
  /** The headers of the caller that routes get, in lower case. */
  readonly headers: readonly string[]
  /** The longest reply, in bytes. */
  readonly maxReply: number
  /** Gives headers that put the identity of the caller on one request, and the function that takes it back. */
  readonly announce: (call: Call) => { readonly headers: Record<string, string>, readonly forget: () => void }
}

const MAX_NAME = 64
const NO_CALLER = { headers: {}, forget: () => {} }

/** Makes a tool of a route. Throws where that cannot be done, with the reason. */
export function makeRouteTool (route: FoundRoute, look: RouteLook, host: RouteHost): Tool {
  const url = readRouteUrl(route.url)
  if (url === undefined) throw new Error('its path has a form that Patchbay does not know')
  const input = routeInput(route, url.names, host.headers)
  const { schema = {} } = route
  const { name = nameOf(route), title, description = textOf(schema) ?? `${route.method} ${route.url}`, scopes } = look
  const made = tool({
    name,
    ...(title === undefined ? {} : { title }),
    ...(scopes === undefined ? {} : { scopes }),
    description,
    annotations: annotationsOf(route.method),
    input: input.schema,
    run: async (args, call) => await callRoute(route, url, input, args as Params, call, host)
  })
  // The route checks them: it may convert what a schema alone would refuse.
  return { ...made, checkInput: () => undefined }
}

async function callRoute (
  { method, schema }: FoundRoute,
  url: RouteUrl,
  input: RouteInput,
  args: Params,
  call: Call,
  { app, headers, maxReply, announce }: RouteHost
): Promise<CallToolResult> {
  const sorted = input.sort(args)
  const path = url.fill(sorted.path)
  // A route of before may not have the hook that takes the header off, and could pass it on.
  const { headers: announced, forget } = schema === undefined ? NO_CALLER : announce(call)
  try {
    const injected = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: withQuery(path, sorted.query),
      headers: {
        ...(sorted.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...argumentHeaders(sorted.headers),
        ...callerHeaders(call, headers),
        ...announced
      },
      remoteAddress: addressOf(call),
      signal: call.signal,
      payloadAsStream: true,
      ...(sorted.body === undefined ? {} : { payload: JSON.stringify(sorted.body) })
    })
    const reply = await readReply(injected, maxReply, call.signal)
    const { statusCode } = reply
    if ((statusCode === 401 || statusCode === 403) && call.channel.hasStatus === true) {
      const challenge = reply.headers['www-authenticate']
      throw errors.routeRefused(
        statusCode,
        failureText(reply),
        challenge === undefined ? {} : { 'www-authenticate': String(challenge) }
      )
    }
    return routeResult(reply, path)
  } finally {
    forget()
  }
}

/** A name for a route without one, of its method and path: `get_api_users_id`. */
function nameOf ({ method, url, schema = {} }: FoundRoute): string {
  const given = typeof schema.operationId === 'string' ? schema.operationId : `${method.toLowerCase()}_${url}`
  return given.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '').slice(0, MAX_NAME)
}

const textOf = ({ description, summary }: Readonly<Record<string, unknown>>): string | undefined =>
  [description, summary].find(each => typeof each === 'string' && each !== '') as string | undefined

const annotationsOf = (method: string) => ({
  readOnlyHint: method === 'GET',
  destructiveHint: method === 'DELETE',
  idempotentHint: method !== 'POST' && method !== 'PATCH',
  openWorldHint: false
})

function withQuery (path: string, query: Params): string {
  const members = Object.entries(query).flatMap(([name, value]) => [value].flat().map(each => [name, each] as const))
  const given = members.filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, asText(value)])).toString()
  return text === '' ? path : `${path}?${text}`
}

const asText = (value: unknown): string => typeof value === 'object' ? JSON.stringify(value) : String(value)

function callerHeaders ({ channel }: Call, names: readonly string[]): Record<string, string> {
  const given = channel.headers ?? {}
  return Object.fromEntries(names.flatMap(name => given[name] === undefined ? [] : [[name, String(given[name])]]))
}

function argumentHeaders (values: Params): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => {
    const text = asText(value)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new ToolError(`The argument "${name}" has characters that a header cannot have`)
    return [name.toLowerCase(), text]
  }))
}

/** The address of the caller: a route that trusts this machine must not take a stranger for it. */
function addressOf ({ channel, identity: { address = '' }, local }: Call): string {
  // That of an identity may be a network.
  const known = channel.address ?? (isIP(address) === 0 ? undefined : address)
  return known ?? (local ? '127.0.0.1' : '0.0.0.0')
}
