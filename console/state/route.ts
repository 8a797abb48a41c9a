import { signal } from '@preact/signals'

export type Kind = 'tool' | 'resource' | 'template' | 'prompt'

/** The view that the page shows, as its address says. Arguments are never in it. */
export type Route =
  | { view: 'try', kind?: Kind, name?: string }
  | { view: 'history' | 'messages' | 'watch' | 'approvals' | 'tasks' }

const KINDS: readonly string[] = ['tool', 'resource', 'template', 'prompt']
const VIEWS: readonly string[] = ['history', 'messages', 'watch', 'approvals', 'tasks']

export const route = signal<Route>({ view: 'try' })

/** Reads the part of an address from `#` on. What is not known is the first view. */
export function parseRoute (hash: string): Route {
  const [view = '', kind = '', name] = hash.replace(/^#\/?/, '').split('/').map(decodeName)
  if (VIEWS.includes(view)) return { view: view as 'history' }
  if (view !== 'try' || !KINDS.includes(kind)) return { view: 'try' }
  return { view, kind: kind as Kind, ...(name === undefined || name === '' ? {} : { name }) }
}

export function writeRoute (to: Route): string {
  if (to.view !== 'try') return `#/${to.view}`
  const parts = [to.kind, to.name].filter(part => part !== undefined).map(part => `/${encodeName(part)}`)
  return `#/try${parts.join('')}`
}

/** A lone surrogate cannot be encoded: what has one in its name is found by no address. */
function encodeName (text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\uFFFD'))
}

function decodeName (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
