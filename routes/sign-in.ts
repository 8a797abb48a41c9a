import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { shortName } from '../protocol/wire/identity.js'
import { addRoutes } from './paths.js'

export default fp(signInRoutes, {
  name: 'patchbay-sign-in-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-auth', 'patchbay-origin', 'patchbay-http-rate-limit', 'patchbay-upstreams']
})

/** The longest form, in bytes: a link and a credential. */
const MAX_FORM = 16_384
const FORM = 'application/x-www-form-urlencoded'

// A browser has no credential: the link, a key and a cookie say whose sign-in it is.
const PUBLIC = { public: true, bodyless: true } as const

/** A refusal that the page shows in words. */
class Refused extends Error {}

/**
 * `/sign-in`, where the browser of a caller comes to sign in to an upstream server, and `/sign-in/callback`, where the
 * authorization server sends it back to.
 */
async function signInRoutes (app: FastifyInstance): Promise<void> {
  const { signIns } = app.mcp.upstreams
  app.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: MAX_FORM }, (_request, body, done) => {
    done(null, new URLSearchParams(String(body)))
  })

  addRoutes(app, '/sign-in', [
    { method: 'GET', config: PUBLIC, handler: async (request, reply) => await answer(request, reply, show) },
    { method: 'POST', config: PUBLIC, handler: async (request, reply) => await answer(request, reply, begin) }
  ])
  addRoutes(app, '/sign-in/callback', [
    { method: 'GET', config: PUBLIC, handler: async (request, reply) => await answer(request, reply, finish) }
  ])

  async function open (): Promise<NonNullable<Awaited<ReturnType<typeof signIns.pages>>>> {
    const pages = await signIns.pages()
    if (pages === undefined) throw new Refused('sign-ins cannot be stored here')
    return pages
  }

  async function show (request: FastifyRequest): Promise<string> {
    const link = parametersOf(request).get('link') ?? ''
    const { alias, principal } = await (await open()).read(link)
    checkBrowser(request, principal)
    const name = principal === undefined ? 'the operator of this gateway' : shortName(principal)
    const key = asksForKey(request, principal)
      ? '<p><label>API key of this caller: <input name="key" type="password" autocomplete="off" required></label></p>'
      : ''
    return `<p>The caller <b>${escape(name)}</b> of this gateway wants to use the server <b>${escape(alias)}</b> in your name.</p>
<p>Go on only if you are this caller, and have just asked for it in your own client.</p>
<form method="post"><input type="hidden" name="link" value="${escape(link)}">${key}<button>Sign in to ${escape(alias)}</button></form>`
  }

  async function begin (request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
    checkOrigin(request)
    const pages = await open()
    const link = form.get('link') ?? ''
    const { principal } = await pages.read(link)
    checkBrowser(request, principal)
    if (asksForKey(request, principal)) await checkKey(form.get('key') ?? '', principal)
    const { url, cookie: { name, value }, redirectUri } = await pages.begin(link)
    reply.header('set-cookie', `${name}=${value}; ${placeOf(redirectUri)}; Max-Age=600; HttpOnly; SameSite=Lax`)
    // A page that leads on, because browsers apply the policy for forms to redirects, too.
    reply.header('refresh', `0; url=${url}`)
    return `<p><a href="${escape(url)}" rel="noreferrer">Go on to sign in</a></p>`
  }

  async function finish (request: FastifyRequest): Promise<string> {
    const { alias } = await (await open()).finish(parametersOf(request), name => cookieIn(request, name))
    return `<p>You are signed in to <b>${escape(alias)}</b>. You can close this page and go back to your client.</p>`
  }

  async function checkKey (key: string, principal: string | undefined): Promise<void> {
    const found = await app.mcp.identities.authenticate(key).catch(() => undefined)
    if (found === undefined || found.principal !== principal) throw new Refused('this is not the key of that caller')
  }
}

/** Where a cookie is for. Browsers take one with the prefix __Host- for the whole host alone. */
function placeOf (redirectUri: string): string {
  const { protocol, pathname } = new URL(redirectUri)
  return protocol === 'https:' ? 'Path=/; Secure' : `Path=${pathname}`
}

/** A host application may know who uses the browser: then it has to be the caller. */
function checkBrowser ({ identity }: FastifyRequest, principal: string | undefined): void {
  if (identity.principal !== undefined && identity.principal !== principal) {
    throw new Refused('you are signed in to this application as another caller than the one who asked')
  }
}

/** Only what an API key is for can be proved in a browser. */
const asksForKey = ({ identity }: FastifyRequest, principal: string | undefined): boolean =>
  identity.principal === undefined && principal?.startsWith('key:') === true

/** Pages of others can send forms here, but not in the name of this one. Behind a proxy, the Host may be another. */
function checkOrigin ({ headers: { origin, host, 'sec-fetch-site': site } }: FastifyRequest): void {
  const isOfHost = typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host
  if (site === undefined ? !isOfHost : site !== 'same-origin') {
    throw new Refused('this form was not sent by the page of this gateway; open the link again')
  }
}

async function answer (
  request: FastifyRequest,
  reply: FastifyReply,
  write: (request: FastifyRequest, reply: FastifyReply) => Promise<string>
): Promise<string> {
  reply.headers(HEADERS)
  try {
    return page(await write(request, reply))
  } catch (error) {
    // Other errors may have texts that are not for callers.
    const isKnown = error instanceof Refused || ['SignInFailed', 'NoAnswer'].includes((error as Error).name)
    if (!isKnown) throw error
    reply.code(400)
    return page(`<p>The sign-in did not work: ${escape((error as Error).message)}.</p>`)
  }
}

const parametersOf = ({ url }: FastifyRequest): URLSearchParams => new URLSearchParams(url.split('?').slice(1).join('?'))

function cookieIn ({ headers: { cookie = '' } }: FastifyRequest, name: string): string | undefined {
  return cookie.split(';').map(part => part.trim()).find(part => part.startsWith(`${name}=`))?.slice(name.length + 1)
}

const escape = (text: string): string => text.replace(/[&<>"']/g, letter => `&#${letter.charCodeAt(0)};`)

/** The page is in no frame, runs nothing, and tells others nothing of its address. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // Without the origin in forms of its own, they could not be told from those of others.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

const page = (body: string): string =>
  `<!doctype html><html lang="en"><title>Patchbay</title><body style="font-family:sans-serif;margin:4em">${body}</body></html>`
