import t from 'tap'
import { createClient } from '../../../app.js'
import { ownerNamed } from '../../../upstreams/sign-in/owner.js'
import { browse } from '../../support/environment/authorization-server.js'
import { ADA, bearer, BOB } from '../../support/keys.js'
import { callTool, type Json } from '../../support/modern.js'
import { until } from '../../support/wait.js'
import { echo, ENTRY, linkFor, mixCalls, namesFor, post, URLS, withCallers } from './callers.js'
import { loggedGateway, openPlace, PageVisitor, signIn } from './place.js'

t.test('each caller signs in: a tool stands for the server until one has, and the others use none of it', async t => {
  const { app, place, log } = await withCallers(t)
  t.same(await namesFor(app, ADA), ['linear__sign_in'])
  t.match(app.mcp.upstreams.status(), [{ state: 'needs sign-in' }])
  t.equal(app.mcp.health.now().status, 'healthy', 'callers are asked, not the operator')
  t.match(await post(app, ADA, 'tools/call', { name: 'linear__sign_in', arguments: {} }), {
    error: {
      message: /needs a sign-in: there is none yet\. Open http:\S+ in your browser, or have the operator run patchbay login linear --as key:ada/,
      data: { code: 'PATCHBAY_SIGN_IN_REQUIRED', command: 'patchbay login linear --as key:ada' }
    }
  })
  const page = await new PageVisitor(app).signIn(await linkFor(app, ADA), ADA)
  t.match(page.body, /You are signed in to <b>linear<\/b>/)
  await until(async () => (await namesFor(app, ADA)).includes('linear__echo'))
  t.match(await echo(app, ADA, 'hello'), { result: { content: [{ text: /hello/ }] } })
  const before = place.server.tokens.length
  t.match(await echo(app, BOB, 'hello'), { error: { data: { command: 'patchbay login linear --as key:bob' } } })
  t.equal(place.server.tokens.length, before, 'no token was sent for the other caller')
  const texts = log.join('') + (await app.inject('/health')).body
  for (const token of place.server.tokens) t.notOk(texts.includes(token))
})

t.test('the requests of a caller carry its own token, also when calls of two are mixed', async t => {
  await mixCalls(t, 100)
})

t.test('callers who are not known cannot each sign in, and the error says what to do', async t => {
  const place = await openPlace(t, { entry: ENTRY })
  const { app } = await loggedGateway(t, place.options)
  const reply = await app.inject({
    method: 'POST',
    url: '/message',
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'linear__sign_in', arguments: {} } }
  })
  t.match(reply.json(), { error: { message: /this gateway does not know who calls: .*apiKeys/ } })
})

t.test('the page of a link takes its caller alone, once, and the answer only in the browser that began', async t => {
  const { app, place } = await withCallers(t)
  const visitor = new PageVisitor(app)
  const link = await linkFor(app, ADA)
  const page = await visitor.get(link)
  t.match(page.body, /The caller <b>ada<\/b> .* <b>linear<\/b>/)
  t.match(page.headers, { 'cache-control': 'no-store', 'x-frame-options': 'DENY', 'referrer-policy': 'same-origin' })
  const refused = async (sent: Promise<{ statusCode: number, body: string }>, why: RegExp): Promise<void> => {
    const { statusCode, body } = await sent
    t.equal(statusCode, 400)
    t.match(body, why)
  }
  await refused(visitor.send(link, BOB), /not the key of that caller/)
  await refused(visitor.send(link, 'pb_nothing'), /not the key of that caller/)
  await refused(visitor.send(link, ADA, {}), /not sent by the page of this gateway/)
  await refused(visitor.send(link, ADA, { origin: 'http://127.0.0.1:9' }), /not sent by the page of this gateway/)
  const fromElsewhere = { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' }
  await refused(visitor.send(link, ADA, fromElsewhere), /not sent by the page/)
  await refused(visitor.send(`${link}x`, ADA), /used already, or is too old/)
  const answer = await visitor.follow(await visitor.send(link, ADA))
  await refused(visitor.send(link, ADA), /used already/)
  await refused(visitor.get(link), /used already/)
  await refused(new PageVisitor(app).get(answer), /no sign-in that waits in this browser/)
  const changed = (name: string, value: string): string => {
    const url = new URL(answer)
    url.searchParams.set(name, value)
    return url.href
  }
  await refused(visitor.get(changed('state', 'another')), /no sign-in that waits in this browser/)
  t.equal(place.issuer.count('/token'), 0, 'no code was sent anywhere')
  t.match((await visitor.get(answer)).body, /You are signed in/)
  await refused(visitor.get(answer), /no sign-in that waits in this browser/)
  t.equal(place.issuer.count('/token'), 1)
})

t.test('one caller begins ten sign-ins to a server within ten minutes, and another is not kept from it', async t => {
  const { app } = await withCallers(t)
  for (let count = 0; count < 10; count++) {
    t.equal((await new PageVisitor(app).send(await linkFor(app, ADA), ADA)).statusCode, 200)
  }
  const refused = await new PageVisitor(app).send(await linkFor(app, ADA), ADA)
  t.match(refused, { statusCode: 400, body: /you began 10 sign-ins to this server within 10 minutes; try again later/ })
  t.match((await new PageVisitor(app).signIn(await linkFor(app, BOB), BOB)).body, /You are signed in/)
})

t.test('an answer of another issuer is refused before the code is sent', async t => {
  const { app, place } = await withCallers(t)
  const visitor = new PageVisitor(app)
  const answer = new URL(await visitor.follow(await visitor.send(await linkFor(app, ADA), ADA)))
  answer.searchParams.set('iss', 'https://attacker.example')
  const reply = await visitor.get(answer.href)
  t.equal(reply.statusCode, 400)
  t.equal(place.issuer.count('/token'), 0)
})

t.test('a client of 2026-07-28 is asked with the result, and the call goes on when it comes back', async t => {
  const { app } = await withCallers(t)
  const round = { headers: bearer(ADA), capabilities: URLS }
  const { result } = await callTool(app, 'linear__sign_in', {}, round)
  t.match(result, { resultType: 'input_required', inputRequests: { 'patchbay-sign-in': { params: { mode: 'url' } } } })
  const { inputRequests, requestState } = result as {
    inputRequests: Record<string, { params: { url: string } }>
    requestState: string
  }
  const visiting = new PageVisitor(app).signIn(inputRequests['patchbay-sign-in']?.params.url ?? '', ADA)
  const inputResponses = { 'patchbay-sign-in': { action: 'accept' } }
  const again = await callTool(app, 'linear__sign_in', {}, { ...round, inputResponses, requestState })
  t.match(again.result, { content: [{ text: /You are signed in to linear/ }] })
  await visiting
  await until(async () => (await namesFor(app, ADA)).includes('linear__echo'))
  const { result: first } = await callTool(app, 'linear__echo', { text: 'x' }, { headers: bearer(BOB), capabilities: URLS })
  const declined = await callTool(app, 'linear__echo', { text: 'x' }, {
    headers: bearer(BOB),
    capabilities: URLS,
    inputResponses: { 'patchbay-sign-in': { action: 'decline' } },
    requestState: first['requestState']
  })
  t.match(declined.error, { message: /the sign-in was declined/ })
})

t.test('a client on this machine is sent to the sign-in itself, and its call goes on, also for more scopes', async t => {
  const place = await openPlace(t)
  const { app } = await loggedGateway(t, place.options)
  const asked: string[] = []
  const client = await createClient(app, {
    capabilities: URLS,
    answers: {
      'elicitation/create': ({ url }: Json) => {
        asked.push(String(url))
        void browse(String(url))
        return { action: 'accept' }
      }
    }
  })
  await until(() => app.mcp.upstreams.status()[0]?.state === 'needs sign-in')
  t.match(await client.request('tools/list', {}), { tools: [] })
  const call = async (text: string) => await client.request('tools/call', { name: 'linear__echo', arguments: { text } })
  t.match(await call('hello'), { content: [{ text: /hello/ }] })
  t.match(await call('needs-more'), { content: [{ text: /needs-more/ }] })
  t.match(await call('needs-more'), { content: [{ text: /needs-more/ }] })
  t.equal(asked.filter(url => url.includes('files%3Awrite')).length, 1, 'asked once for the wider scopes')
})

t.test('an operator signs in for one caller, and out again', async t => {
  const { app, place } = await withCallers(t)
  const owner = ownerNamed('key:ada')
  await signIn(app, place.options, undefined, undefined, undefined, undefined, owner)
  await until(async () => (await namesFor(app, ADA)).includes('linear__echo'))
  t.match(await echo(app, ADA, 'hello'), { result: { content: [{ text: /hello/ }] } })
  t.match(await echo(app, BOB, 'hello'), { error: { data: { code: 'PATCHBAY_SIGN_IN_REQUIRED' } } })
  const { signIns } = app.mcp.upstreams
  t.same((await signIns.signOut('linear', undefined, ownerNamed('key:bob'))).issuers, [])
  t.same((await signIns.signOut('linear', undefined, owner)).issuers, [place.issuer.url])
  await until(async () => 'error' in await echo(app, ADA, 'hello'))
})
