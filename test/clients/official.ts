import type { EventEmitter } from 'node:events'

/** What both generations of the official client can do under the same names. */
export interface Verbs {
  getServerVersion: () => { name: string, version: string } | undefined
  getServerCapabilities: () => object | undefined
  listTools: (page?: Page) => Promise<{ tools: Array<{ name: string }>, nextCursor?: string | undefined }>
  listResources: (page?: Page) => Promise<{ resources: Array<{ uri: string }>, nextCursor?: string | undefined }>
  listResourceTemplates: () => Promise<{ resourceTemplates: Array<{ uriTemplate: string }> }>
  listPrompts: () => Promise<{ prompts: Array<{ name: string }> }>
  readResource: (params: { uri: string }) => Promise<{ contents: object[] }>
  getPrompt: (params: { name: string, arguments?: Record<string, string> }) => Promise<{ messages: object[] }>
  complete: (params: { ref: Reference, argument: { name: string, value: string } }) => Promise<{ completion: object }>
  close: () => Promise<void>
}

/** An official client, connected. */
export interface Official {
  readonly verbs: Verbs
  /** The revision the client believes was agreed. */
  readonly version: string | undefined
  /**
   * Emits `log` and `updated` with the params of the notification, and `tools` with the names in the list that was
   * fetched again.
   */
  readonly events: EventEmitter
  /** What the client complained about. */
  readonly complaints: Error[]
  readonly call: (params: ToolCall, options?: CallOptions) => Promise<ToolResult>
  /** Asks for logs from a level on: returns what has to be added to the calls whose logs are wanted. */
  readonly listenToLogs: (level: 'info') => Promise<Pick<ToolCall, '_meta'>>
  readonly subscribe: (uri: string) => Promise<void>
  readonly unsubscribe: (uri: string) => Promise<void>
}

export interface ToolCall { name: string, arguments?: Record<string, unknown>, _meta?: Record<string, unknown> }
export interface CallOptions { onprogress?: (progress: object) => void, signal?: AbortSignal, timeout?: number }
export interface ToolResult { content: object[], structuredContent?: unknown, isError?: boolean | undefined }

type Page = { cursor: string }
type Reference = { type: 'ref/prompt', name: string } | { type: 'ref/resource', uri: string }

export const INFO = { name: 'official', version: '1.2.3' }

export const CAPABILITIES = { elicitation: {}, roots: {}, sampling: {} }

/** How the clients answer what the server asks. */
export const ANSWERS = {
  elicitation: () => ({ action: 'accept' as const, content: { name: 'Ada' } }),
  sampling: () => ({ role: 'assistant' as const, model: 'oracle', content: { type: 'text' as const, text: 'Paris' } }),
  roots: () => ({ roots: [{ uri: 'file:///home/ada', name: 'Home' }] })
}

/** Emits `tools` when the client fetched the list of tools again after a notification. */
export function toolsWatcher (events: EventEmitter) {
  return {
    tools: {
      debounceMs: 0,
      onChanged: (_error: Error | null, tools: Array<{ name: string }> | null) => {
        events.emit(
          'tools',
          tools?.map(({ name }) => name)
        )
      }
    }
  }
}
