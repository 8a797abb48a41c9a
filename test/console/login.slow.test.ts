import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { Options } from '../../app.js'
import fixture, { gateway, listening } from '../support/gateway.js'
import { freePort } from '../support/environment/redis-server.js'
import { ADA, apiKeys, BOB, listed } from '../support/keys.js'
import { until } from '../support/wait.js'
import { startAuthorizationServer, type AuthorizationServer } from './support/authorization-server.js'
import { checkAccessibility } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { goTo, readable } from './support/steps.js'
import { visit, type VisitOptions } from './support/visit.js'

/** The browser logs each refusal. */
const REFUSED = /status of 40[013]/
const TRY = '#/try/tool/echo'

const heading = (page: Page) => page.getByRole('heading', { name: 'Log in' })
const tools = (page: Page) => page.getByText('Gives back what it was given').first()

async function giveKey (page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in with this key' }).click()
}

/** Everything of the page that outlives a script, or that others may read. */
async function traces (page: Page): Promise<string> {
  const stored = await page.evaluate(
    'JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, document.cookie, document.documentElement.outerHTML, performance.getEntries().map(({ name }) => name), history.state])'
  )
  return JSON.stringify([stored, await page.context().cookies(), page.url()])
}

t.test('a gateway without keys asks for nothing', withBrowser, async t => {
  const { url } = await listening(t)
  const page = await visit(t, url)
  await tools(page).waitFor()
  t.equal(await heading(page).count(), 0)
})

t.test(
  'with keys the page shows the login alone, connects with the right key, and leaves no trace of it',
  withBrowser,
  async t => {
    const asked: string[] = []
    const listener = async (app: FastifyInstance): Promise<void> => {
      app.addHook('onRequest', async request => {
        asked.push(request.url)
      })
    }
    const { app, url } = await listening(t, { apiKeys, plugins: [fp(listener), fixture] })
    const page = await visit(t, url, { path: `/console/${TRY}`, expected: [REFUSED] })
    await heading(page).waitFor()
    t.equal(await tools(page).count(), 0)
    await page.getByText('patchbay key NAME').waitFor()
    await checkAccessibility(t, page, 'login')

    await giveKey(page, 'pb_wrong')
    await page.getByText('did not accept').waitFor()
    t.equal(await page.getByLabel('API key').inputValue(), '')
    await giveKey(page, ADA)
    await tools(page).waitFor()
    t.match(page.url(), TRY, 'the view that was asked for')
    t.strictSame(
      [...app.mcp.dispatcher.lifecycle.peers].map(({ principal }) => principal),
      ['key:ada']
    )
    t.notMatch(await traces(page), ADA)

    await page.reload()
    await heading(page).waitFor()
    await page.getByLabel('Keep it for this tab').check()
    await giveKey(page, ADA)
    await tools(page).waitFor()
    await page.reload()
    await tools(page).waitFor()
    t.equal(await page.evaluate('sessionStorage.length'), 1, 'kept because it was asked for')
    t.notMatch(await page.evaluate('JSON.stringify({ ...localStorage })'), ADA)

    await page.getByRole('button', { name: 'Log out' }).click()
    await heading(page).waitFor()
    t.notMatch(await traces(page), ADA)
    await page.reload()
    await heading(page).waitFor()
    t.notMatch(asked.join('\n'), ADA, 'no URL has it')
  }
)

t.test('the caller who logs in next sees nothing of the one who logged out', withBrowser, async t => {
  const { app, url } = await listening(t, { apiKeys })
  const page = await visit(t, url, { path: `/console/${TRY}`, expected: [REFUSED] })
  await giveKey(page, ADA)
  await tools(page).waitFor()
  await page.getByRole('textbox', { name: 'text' }).first().fill('CANARY')
  await page.getByRole('button', { name: 'Call', exact: true }).click()
  await page.locator('section.call').getByText('done').waitFor()
  await goTo(page, `#/try/resource/${encodeURIComponent('server://counter')}`)
  await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
  await page.getByText('Subscribed; no change yet').waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await heading(page).waitFor()

  await giveKey(page, BOB)
  await page.getByRole('button', { name: 'Subscribe', exact: true }).waitFor()
  for (const hash of [TRY, '#/history', '#/messages']) {
    await goTo(page, hash)
    await page.getByText('Connected', { exact: true }).first().waitFor()
    t.notMatch(await readable(page), /CANARY/, hash)
  }
  t.strictSame([...app.mcp.dispatcher.lifecycle.peers].map(({ principal }) => principal), ['key:bob'])
})

t.test('a key that is removed brings the login back, and another one goes on where it was', withBrowser, async t => {
  const { app, url } = await listening(t, { apiKeys })
  const page = await visit(t, url, { path: `/console/${TRY}`, expected: [REFUSED] })
  await heading(page).waitFor()
  await giveKey(page, ADA)
  await tools(page).waitFor()
  const field = page.getByRole('textbox', { name: 'text' }).first()
  await field.fill('half a sentence')

  app.mcp.identities.replaceKeys([listed('ada', 'pb_other')])
  await heading(page).waitFor()
  await page.getByText('what you typed is still there').waitFor()
  await giveKey(page, 'pb_other')
  t.equal(await page.getByRole('textbox', { name: 'text' }).first().inputValue(), 'half a sentence')
})

t.test('a key that no header can have is refused beside its field, and the next one works', withBrowser, async t => {
  const { url } = await listening(t, { apiKeys })
  const page = await visit(t, url, { path: `/console/${TRY}` })
  await heading(page).waitFor()
  await page.getByLabel('Keep it for this tab').check()
  for (const key of [`“${ADA}”`, `${ADA}\u200B`, 'pb_ä', 'two words']) {
    await giveKey(page, key)
    await page.getByRole('alert').filter({ hasText: 'perhaps a typographic quote' }).waitFor()
    t.equal(await page.getByLabel('API key').getAttribute('aria-invalid'), 'true')
  }
  await checkAccessibility(t, page, 'a key that is refused')
  t.equal(await page.evaluate('sessionStorage.length'), 0)
  await page.getByLabel('API key').fill(ADA)
  t.equal(await page.getByRole('alert').textContent(), '')
  await page.getByRole('button', { name: 'Log in with this key' }).click()
  await tools(page).waitFor()
})

t.test('a key that was kept and that no header can have is forgotten', withBrowser, async t => {
  const { url } = await listening(t, { apiKeys })
  const page = await visit(t, url)
  await heading(page).waitFor()
  await page.evaluate("sessionStorage.setItem('patchbay-key', '“pb_x”')")
  await page.reload()
  await heading(page).waitFor()
  t.equal(await page.evaluate('sessionStorage.length'), 0)
})

t.test(
  'after the end of a login everything that it left can be forgotten, before another one',
  withBrowser,
  async t => {
    const { app, url } = await listening(t, { apiKeys })
    const page = await visit(t, url, { path: `/console/${TRY}`, expected: [REFUSED] })
    const forget = page.getByRole('button', { name: 'Forget everything' })
    await heading(page).waitFor()
    await giveKey(page, 'pb_wrong')
    await page.getByText('did not accept').waitFor()
    t.equal(await forget.count(), 0, 'there is nothing to forget')
    await giveKey(page, ADA)
    await tools(page).waitFor()
    await page.getByRole('textbox', { name: 'text' }).first().fill('CANARY')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('section.call').getByText('done').waitFor()

    app.mcp.identities.replaceKeys([listed('bob', BOB)])
    await page.getByText('what you typed is still there').waitFor()
    await giveKey(page, 'pb_wrong')
    await page.getByText('did not accept').waitFor()
    await checkAccessibility(t, page, 'the end of a login')
    await forget.click()
    await forget.waitFor({ state: 'detached' })
    await page.getByLabel('API key').and(page.locator(':focus')).waitFor()
    await giveKey(page, BOB)
    await tools(page).waitFor()
    for (const hash of [TRY, '#/history', '#/messages']) {
      await goTo(page, hash)
      t.notMatch(await readable(page), /CANARY/, hash)
    }
    await page.getByRole('list', { name: 'Messages' }).waitFor()
    t.equal(await page.getByRole('list', { name: 'Messages' }).getByText('tools/call').count(), 0)
  }
)

interface Secured { url: string, server: AuthorizationServer, visited: VisitOptions }

/** A gateway that takes the tokens of an authorization server. */
async function secured (t: Test, more: Partial<NonNullable<Options['oauth']>> = {}): Promise<Secured> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const resource = `${url}/mcp`
  const server = await startAuthorizationServer(t, resource)
  const app = await gateway(t, { oauth: { issuer: server.issuer.url, resource, ...more } })
  await app.listen({ port, host: '127.0.0.1' })
  return {
    url,
    server,
    visited: {
      path: `/console/${TRY}`,
      expected: [REFUSED, /status of 503/, new RegExp(`^asked ${server.issuer.url}/`)]
    }
  }
}

const logIn = async (page: Page): Promise<void> => await page.getByRole('button', { name: 'Log in with OAuth' }).click()

t.test(
  'with OAuth the browser goes to the authorization server and comes back to the same view',
  withBrowser,
  async t => {
    const { url, server, visited } = await secured(t)
    const page = await visit(t, url, visited)
    await logIn(page)
    await tools(page).waitFor()
    t.equal(page.url(), `${url}/console/${TRY}`, 'without the code')
    const [asked, ...others] = server.visits
    t.match(asked, {
      response_type: 'code',
      client_id: `${url}/console/client.json`,
      redirect_uri: `${url}/console/`,
      resource: `${url}/mcp`,
      code_challenge_method: 'S256',
      code_challenge: /^[\w-]{43}$/,
      state: /^[\w-]{43}$/,
      scope: 'mcp'
    })
    t.strictSame(others, [])
    t.match(server.grants, [
      {
        grant_type: 'authorization_code',
        resource: `${url}/mcp`,
        client_id: `${url}/console/client.json`,
        redirect_uri: `${url}/console/`
      }
    ])
    t.notMatch(await traces(page), /eyJ|verifier|patchbay-login/, 'tokens are in memory only')
  }
)

t.test('the id that the operator registered is used, and the rights that a person asks for', withBrowser, async t => {
  const { url, server, visited } = await secured(t, { consoleClientId: 'console-7' })
  const page = await visit(t, url, visited)
  await page.getByText('Ask for other rights').click()
  await page.getByLabel('Scopes').fill('mcp  admin')
  await logIn(page)
  await tools(page).waitFor()
  t.match(server.visits, [{ client_id: 'console-7', scope: 'mcp admin' }])
})

t.test(
  'a token that ends is renewed without a word, also if the authorization server is away for a while',
  withBrowser,
  async t => {
    const { url, server, visited } = await secured(t)
    server.lifetime = 3
    const page = await visit(t, url, visited)
    await logIn(page)
    await until(() => server.grants.length > 0, 'the first tokens')
    server.lifetime = 300
    let asked = 0
    server.issuer.answers.set('/token', (_request, response) => {
      asked++
      response.writeHead(503, CORS).end('away')
    })
    await until(() => asked > 0, 'an attempt to renew')
    await page.getByText('The login cannot be renewed now').first().waitFor()
    server.issuer.answers.delete('/token')
    await page.getByText('Connected', { exact: true }).first().waitFor()
    t.equal(renewals(server), 1)
    t.equal(await heading(page).count(), 0)
  }
)

t.test('a login that cannot be renewed is asked for', withBrowser, async t => {
  const { url, server, visited } = await secured(t)
  server.lifetime = 5
  const page = await visit(t, url, visited)
  await logIn(page)
  await tools(page).waitFor()
  server.issuer.answers.set('/token', (_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json', ...CORS }).end('{"error":"invalid_grant"}')
  })
  await heading(page).waitFor()
  await page.getByText('Your login has ended').waitFor()
})

t.test('tokens are renewed once for all connections that need them', withBrowser, async t => {
  const { url, server, visited } = await secured(t)
  let open = (): void => {}
  server.gate = new Promise(resolve => { open = resolve })
  server.lifetime = 3
  const page = await visit(t, url, visited)
  await logIn(page)
  await until(() => renewals(server) === 1, 'a renewal')
  server.lifetime = 300
  // Another era is another connection, which needs a ticket, too.
  const refused = page.waitForResponse(response => response.url().endsWith('/ticket') && response.status() === 401)
  await page.getByLabel('Protocol revision').selectOption('legacy')
  await refused
  open()
  await tools(page).waitFor()
  await page.getByText('Connected').first().waitFor()
  t.equal(renewals(server), 1)
})

const CORS = { 'access-control-allow-origin': '*' }

const renewals = ({ grants }: AuthorizationServer): number =>
  grants.filter(({ grant_type: type }) => type === 'refresh_token').length

const WRONG: Array<[what: string, change: (server: AuthorizationServer) => void, said: string | RegExp]> = [
  [
    'another state',
    server => {
      server.answer = { state: 'another' }
    },
    'cannot be used'
  ],
  [
    'no state',
    server => {
      server.answer = { state: undefined }
    },
    'cannot be used'
  ],
  [
    'another issuer',
    server => {
      server.answer = { iss: 'http://127.0.0.1:1' }
    },
    'cannot be used'
  ],
  [
    'no issuer, where one was promised',
    server => {
      server.answer = { iss: undefined }
    },
    'cannot be used'
  ],
  [
    'a refusal with markup in its words',
    server => {
      server.answer = {
        code: undefined,
        error: 'access_denied',
        error_description: '<img src=x onerror=alert(1)> not you'
      }
    },
    '<img src=x onerror=alert(1)> not you'
  ],
  [
    'metadata of another issuer',
    server => {
      server.metadata = { issuer: 'http://127.0.0.1:1' }
    },
    'did not work'
  ],
  [
    'a script for an address',
    server => {
      server.metadata = { authorization_endpoint: 'javascript:alert(1)' }
    },
    'names no https address'
  ],
  [
    'no PKCE',
    server => {
      server.metadata = { code_challenge_methods_supported: ['plain'] }
    },
    'does not support PKCE'
  ]
]

for (const [what, change, said] of WRONG) {
  t.test(`a login is refused with ${what}`, withBrowser, async t => {
    const { url, server, visited } = await secured(t)
    change(server)
    const page = await visit(t, url, visited)
    await logIn(page)
    await page.getByText(said).waitFor()
    t.equal(await tools(page).count(), 0)
    t.strictSame(server.grants, [], 'no code was used')
    t.equal(new URL(page.url()).search, '')
    t.notMatch(
      await page.evaluate('JSON.stringify({ ...sessionStorage })'),
      'verifier',
      'the attempt is forgotten, or was never begun'
    )
    t.equal(await page.getByRole('button', { name: 'Log in with OAuth' }).isEnabled(), true)
  })
}

t.test('a login is refused with a token that no header can have', withBrowser, async t => {
  const { url, server, visited } = await secured(t)
  server.issuer.answers.set('/token', (_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json', ...CORS })
      .end('{"access_token":"a “token”","token_type":"Bearer"}')
  })
  const page = await visit(t, url, visited)
  await logIn(page)
  await page.getByText('gave a token that cannot be sent').waitFor()
  t.equal(await page.getByRole('button', { name: 'Log in with OAuth' }).isEnabled(), true)
})

t.test('an answer that no login of this tab asked for is refused', withBrowser, async t => {
  const { url, server, visited } = await secured(t)
  const page = await visit(t, url, {
    ...visited,
    path: `/console/?code=stolen&state=x&iss=${encodeURIComponent(server.issuer.url)}`
  })
  await page.getByText('belongs to no login of this tab').waitFor()
  t.strictSame(server.grants, [])
  t.equal(page.url(), `${url}/console/`)
})

t.test(
  'at another address than the one that the gateway is known by, the page says where to log in',
  withBrowser,
  async t => {
    const { url, visited } = await secured(t)
    const page = await visit(t, url.replace('127.0.0.1', 'localhost'), visited)
    await logIn(page)
    await page.getByRole('link', { name: `${url}/console/` }).waitFor()
  }
)
