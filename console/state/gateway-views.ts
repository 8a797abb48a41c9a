import { batch, signal } from '@preact/signals'
import { isObject, mayWatch, type Client, type Json, type JsonObject } from '../client/contract.js'
import { clearLists } from './lists.js'

/** A part of the gateway with a URL of its own, as the gateway tells operators of it. */
export interface GatewayView {
  /** Undefined for everything. */
  name: string | undefined
  kind: 'all' | 'view' | 'server'
  description: string | undefined
  tools: number
  tokens: number
  /** Sentences about clients that would not take all of its tools. */
  remarks: string[]
}

/** The view or server whose clients see what the page shows; undefined for everything. */
export const chosenView = signal<string | undefined>(undefined)

/** The views and servers of the gateway, for callers who may watch; empty for others. */
export const gatewayViews = signal<readonly GatewayView[]>([])

/** Shows what clients of another view see. */
export function chooseView (name: string | undefined): void {
  if (name === chosenView.peek()) return
  batch(() => {
    chosenView.value = name
    clearLists()
  })
}

/** Forgets the views, for another caller. */
export function forgetViews (): void {
  batch(() => {
    chosenView.value = undefined
    gatewayViews.value = []
  })
}

/** The address of the endpoint of a view, given that of everything. */
export function urlOfView (url: URL, name: string | undefined): URL {
  const own = new URL(url)
  if (name !== undefined) own.pathname += `/${encodeURIComponent(name)}`
  return own
}

/** Several lists may change at once. */
const PAUSE_MS = 250

/**
 * Keeps the views as the gateway has them, and reads them again when lists have changed. They stay while there is no
 * connection, so that another one can be chosen. Returns how to end it.
 */
export function followViews (client: Client): () => void {
  if (!mayWatch(client)) {
    gatewayViews.value = []
    return () => {}
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false
  const read = (): void => {
    readViews(client).then(rows => { if (!ended) gatewayViews.value = rows }, () => {})
  }
  const off = client.onNotification(method => {
    if (!method.endsWith('/list_changed')) return
    clearTimeout(timer)
    timer = setTimeout(read, PAUSE_MS)
  })
  read()
  return () => {
    ended = true
    clearTimeout(timer)
    off()
  }
}

/** Reads the views anew. A gateway that does not know the method has none. */
export async function readViews (client: Client): Promise<GatewayView[]> {
  const { views } = await client.request('patchbay/views')
  return Array.isArray(views) ? views.flatMap(rowOf) : []
}

/** A row as far as it can be shown, of whatever came. */
function rowOf (row: Json): GatewayView[] {
  if (!isObject(row)) return []
  const { name, kind, description, tools, tokens, remarks } = row
  if (kind !== 'all' && ((kind !== 'view' && kind !== 'server') || typeof name !== 'string')) return []
  return [{
    name: kind === 'all' ? undefined : String(name),
    kind,
    description: typeof description === 'string' ? description : undefined,
    tools: Number(tools),
    tokens: Number(tokens),
    remarks: Array.isArray(remarks) ? remarks.map(String) : []
  }]
}

/** A tool as its server or author wrote it, where the view shows it otherwise. */
export interface Original {
  /** The name that it has in options, logs and metrics. */
  canonical: string
  /** The members of the definition that differ. */
  changed: string[]
  definition: JsonObject
}

/** Reads how a tool was before views and overrides; undefined for callers that may not know. */
export async function readOriginal (client: Client, name: string): Promise<Original | undefined> {
  if (!mayWatch(client)) return undefined
  const { canonical, changed, original } = await client.request('patchbay/views/tool', { name })
  return {
    canonical: String(canonical),
    changed: Array.isArray(changed) ? changed.map(String) : [],
    definition: isObject(original) ? original : {}
  }
}
