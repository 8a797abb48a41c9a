import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { BatchMethod, EndedCall, WatchBatch } from '../../protocol/watch/batch.js'
import { logLine } from './notes.js'
import { shownInLine } from './terminal.js'

/** The notification of the feed of a Patchbay. */
const BATCH: BatchMethod = 'notifications/patchbay/watch'

/** Puts notifications into lines for people; remembers what it said of a feed, and says only what is new. */
export class WatchLines {
  readonly #states = new Map<string, string>()
  #health: string | undefined
  #isFirst = true

  linesOf (method: string, params: Params): string[] {
    if (method === BATCH) return this.#batch(params as unknown as WatchBatch).map(shownInLine)
    if (method === 'notifications/message') return [logLine(params)]
    if (method === 'notifications/subscriptions/acknowledged') return []
    const [, list] = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method) ?? []
    if (list !== undefined) return [`the list of ${list} has changed`]
    if (method === 'notifications/resources/updated') return [shownInLine(`${String(params['uri'])} has changed`)]
    return [shownInLine(`${method.replace(/^notifications\//, '')} ${JSON.stringify(withoutMeta(params))}`)]
  }

  #batch ({ gateway, ended = [], dropped = 0, upstreams = [], health }: WatchBatch): string[] {
    const lines = gateway === undefined ? [] : [`watching ${gateway.name} ${gateway.version}`]
    // The first batch has the calls of before.
    if (!this.#isFirst) {
      if (dropped > 0) lines.push(`${dropped} calls are left out`)
      lines.push(...ended.map(describeCall))
    }
    this.#isFirst = false
    for (const { alias, state, tools, lastError, failing } of upstreams) {
      const words = `${state}${tools === undefined ? '' : `, ${tools} ${tools === 1 ? 'tool' : 'tools'}`}${failing === true && lastError !== undefined ? `: ${lastError}` : ''}`
      if (this.#states.get(alias) !== words) lines.push(`upstream ${alias} ${words}`)
      this.#states.set(alias, words)
    }
    if (health !== undefined) {
      const words = `${health.status}${health.reason === undefined ? '' : `: ${health.reason}`}`
      if (this.#health !== words) lines.push(`health ${words}`)
      this.#health = words
    }
    return lines
  }
}

function describeCall (call: EndedCall): string {
  const { tool, prompt, resource, method, outcome, code, ms } = call
  const who = [call.principal, call.client, call.transport].filter(word => word !== undefined).join(', ')
  return `${tool ?? prompt ?? resource ?? method} ${outcome}${code === undefined ? '' : ` ${code}`} in ${Math.round(ms)} ms (${who})`
}

function withoutMeta (params: Params): Params {
  const { _meta, ...rest } = params
  return rest
}

/** True for a Patchbay that tells this caller what it does. */
export const hasFeed = (capabilities: Readonly<Record<string, unknown>>): boolean =>
  ['experimental', 'extensions'].some(name => {
    const part = capabilities[name]
    return isObject(part) && Object.hasOwn(part, 'patchbay/watch')
  })
