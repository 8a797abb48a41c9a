import { effect } from '@preact/signals'
import { render } from 'preact'
import { connect, type Connection } from './client/connect.js'
import type { Era } from './client/contract.js'
import type { Closing, MakeSocket } from './client/socket.js'
import { LoginNeeded, need, openSocketProtocols, wasUsed } from './login/credential.js'
import { App } from './shell/app.js'
import { followProposals } from './state/approvals.js'
import { now } from './state/clock.js'
import { Reconnector, client, era, type Ports } from './state/connection.js'
import { chosenView, followViews, urlOfView } from './state/gateway-views.js'
import { followLists } from './state/lists.js'
import { MessageLog } from './state/messages.js'
import { parseRoute, route } from './state/route.js'
import { followServers } from './state/servers.js'
import { theme } from './state/settings.js'
import { keepCalls } from './state/stored-calls.js'
import { resubscribe } from './state/subscriptions.js'
import './style/main.css'

const socketUrl = new URL('../mcp', location.href)
socketUrl.protocol = socketUrl.protocol === 'https:' ? 'wss:' : 'ws:'

/** The endpoint of the chosen view. */
let target = socketUrl

const log = new MessageLog(run => { requestAnimationFrame(run) })
const connection = new Reconnector(portsOf(() => target.href, (url, protocols) => new WebSocket(url, protocols), log))

// Calls from before the reload are there for "Forget everything", too.
if (keepCalls()) wasUsed.value = true

const readRoute = (): void => { route.value = parseRoute(location.hash) }
readRoute()
addEventListener('hashchange', readRoute)
setInterval(() => { now.value = Date.now() }, 1000)

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
})
// Connects at the start, after a login, in another era, and to another view.
effect(() => {
  target = urlOfView(socketUrl, chosenView.value)
  if (need.value === undefined) void connection.connect(era.value)
})
effect(() => client.value === undefined ? undefined : followLists(client.value))
effect(() => client.value === undefined ? undefined : followServers(client.value))
effect(() => client.value === undefined ? undefined : followViews(client.value))
effect(() => client.value === undefined ? undefined : followProposals(client.value))
effect(() => { if (client.value !== undefined) resubscribe(client.value) })

const place = document.getElementById('console')
if (place !== null) render(<App connection={connection} log={log} />, place)

const CLIENT = { name: 'patchbay-console', title: 'Patchbay console', version: '1' }

/** How this page opens a connection: a new ticket, a socket, the handshake of the era. */
function portsOf (urlNow: () => string, makeSocket: MakeSocket, log: MessageLog): Ports {
  return {
    needsLogin: error => error instanceof LoginNeeded,
    open: async (era: Era, onClosed: (closing: Closing) => void, signal: AbortSignal): Promise<Connection> =>
      await connect({
        era,
        url: urlNow(),
        protocols: await openSocketProtocols(),
        makeSocket,
        clientInfo: CLIENT,
        onMessage: log.add,
        signal,
        onClosed
      })
  }
}
