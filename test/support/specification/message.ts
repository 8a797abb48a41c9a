import type { Revision } from './revisions.js'

export type Json = Record<string, unknown>
export type Id = string | number

/** Anything that travels, as loosely as a client must read it. */
export interface Message {
  jsonrpc?: string
  id?: Id | null
  method?: string
  params?: Json
  result?: Json
  error?: { code: number, message: string, data?: Json }
}

/** An answer, with the HTTP status it came with where there is one. */
export interface Reply extends Message { status?: number | undefined }

const META = 'io.modelcontextprotocol/'

export const meta = {
  version: `${META}protocolVersion`,
  capabilities: `${META}clientCapabilities`,
  clientInfo: `${META}clientInfo`,
  logLevel: `${META}logLevel`,
  subscription: `${META}subscriptionId`,
  serverInfo: `${META}serverInfo`
} as const

export const clientInfo = { name: 'matrix', version: '1.0.0' }

/** The params of a request as its revision wants them: a stateless one describes the client each time. */
export function describe (
  params: Json | undefined,
  { modern, version }: Revision,
  capabilities: Json
): Json | undefined {
  if (!modern) return params
  const own = params?._meta as Json | undefined
  return {
    ...params,
    _meta: { [meta.version]: version, [meta.clientInfo]: clientInfo, [meta.capabilities]: capabilities, ...own }
  }
}

/** The text blocks of a tool's result, joined. */
export function textOf ({ result }: Message): string {
  const blocks = (result?.content ?? []) as Array<{ type: string, text?: string }>
  return blocks.map(({ text = '' }) => text).join('')
}

/** The name in params that an HTTP header repeats. */
export function nameOf (params: Json | undefined): string | undefined {
  const name = params?.name ?? params?.uri ?? params?.taskId
  return typeof name === 'string' ? name : undefined
}
