import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { clientMetadata, loginOf, type ConsoleOAuth } from './console/client-metadata.js'
import { listFiles } from './console/files.js'
import { serveSandbox } from './console/sandbox.js'
import { securityHeaders } from './console/security-headers.js'
import { serveFile, serveJson, servePage } from './console/serve.js'
import { addRoutes, type Route } from './paths.js'

export default fp(consoleRoutes, {
  name: 'patchbay-console-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-origin', 'patchbay-auth', 'patchbay-http-rate-limit']
})

export interface ConsoleOptions {
  /** The name of the gateway. */
  name: string
  /** The path before the routes. */
  base: string
  oauth?: ConsoleOAuth | undefined
  /** True when callers need a credential, and so get tickets. */
  isGuarded: boolean
  /** The prefix of the scope of a host application that all routes are in. */
  hostPrefix?: string
  /** Where the built files are. */
  folders?: URL[]
}

const PUBLIC = { always: true, public: true, uncounted: true } as const
const PAGE = 'index.html'
const SANDBOX = 'sandbox.html'

/**
 * `/console/`: a page that is an MCP client of this gateway, and the files it loads. Each is a GET of bytes that were
 * made at build, or of what the options say about the login; what the page shows, it gets from `/mcp` with the rights
 * of its user. Nothing of a request becomes the name of a file.
 */
async function consoleRoutes (
  app: FastifyInstance,
  { name, base, oauth, isGuarded, hostPrefix, folders }: ConsoleOptions
): Promise<void> {
  const found = listFiles(folders)
  if (found === undefined) {
    app.log.warn(
      'the console is not served, because its files are missing from this build; "npm run build" makes them, and option console turns this off'
    )
    return
  }
  const headers = securityHeaders(oauth?.issuer)
  for (const file of found) {
    if (file.name === PAGE) add('', servePage(file, headers))
    else if (file.name === SANDBOX) add(`/${file.name}`, serveSandbox(file, headers))
    else add(`/${file.name}`, serveFile(file, headers))
  }
  const login = oauth && loginOf(oauth, base, hostPrefix)
  // A host application may know its users by other means, such as a cookie, so there the page asks for a ticket before
  // it asks for a credential.
  const credential = !isGuarded ? 'none' : app.mcp.standalone ? 'asked' : 'maybe'
  add('/login.json', serveJson({ credential, ...(login && { oauth: login }) }, headers))
  if (login !== undefined && oauth?.consoleClientId === undefined) {
    add('/client.json', serveJson(clientMetadata(name, login), headers))
  }

  function add (path: string, handler: Route['handler']): void {
    addRoutes(app, `/console${path}`, [{ method: 'GET', exposeHeadRoute: true, config: PUBLIC, handler }])
  }
}
