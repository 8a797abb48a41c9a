import { underOtherName } from '../../../lib/origins.js'

// The page between the console and the page of an app. It is on another origin than the console, and holds nothing: it
// puts the HTML that the console sends into a frame without an origin, under the policy of its own headers, and passes
// messages on. https://github.com/modelcontextprotocol/ext-apps, 2026-01-26, "Sandbox proxy"

const RESERVED = 'ui/notifications/sandbox-'

const host = underOtherName(location.href)?.origin
const view = document.createElement('iframe')
view.setAttribute('sandbox', 'allow-scripts allow-forms')
view.title = 'App'

if (host !== undefined && parent !== window) {
  addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source === parent && origin === host) fromHost(data)
    // A frame without an origin sends "null". What it was led to from there has one, and is not heard.
    else if (source !== null && source === view.contentWindow && origin === 'null') fromView(data, host)
  })
  parent.postMessage({ jsonrpc: '2.0', method: `${RESERVED}proxy-ready`, params: {} }, host)
}

function fromHost (message: unknown): void {
  const method = methodOf(message)
  if (method === `${RESERVED}resource-ready`) show((message as { params?: { html?: unknown } }).params?.html)
  // A frame without an origin has no name that a message could be sent to.
  else if (method?.startsWith(RESERVED) !== true) view.contentWindow?.postMessage(message, '*')
}

/** Shows one page; the next one needs a new sandbox, whose headers are made for it. */
function show (html: unknown): void {
  if (typeof html !== 'string' || view.isConnected) return
  // The frame has no origin and the policy of this page, so its markup reaches nothing.
  view.srcdoc = html // eslint-disable-line no-restricted-syntax
  document.body.append(view)
}

function fromView (message: unknown, to: string): void {
  if (typeof message === 'object' && message !== null && methodOf(message)?.startsWith(RESERVED) !== true) {
    parent.postMessage(message, to)
  }
}

function methodOf (message: unknown): string | undefined {
  const method = typeof message === 'object' && message !== null && 'method' in message ? message.method : undefined
  return typeof method === 'string' ? method : undefined
}
