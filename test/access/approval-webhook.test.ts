import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { tool, type Identity, type Options } from '../../app.js'
import { resolveOptions } from '../../options.js'
import { listening } from '../support/gateway.js'
import { Speaker, textOf } from '../support/speaker.js'
import { Inbox, until } from '../support/wait.js'

type Json = Record<string, unknown>
interface Message { headers: Record<string, string>, body: Json & { id: string, digest: string }, text: string }

const SECRET = 'a secret of the operator, long enough'
const ADA: Identity = { principal: 'key:ada', scopes: new Set(['mcp']) }

/** A program of the operator, which gets what waits; the first deliveries get these statuses. */
async function receiver (t: Test, statuses: number[] = []): Promise<{ url: string, inbox: Inbox<Message> }> {
  const inbox = new Inbox<Message>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
      const text = Buffer.concat(chunks).toString()
      inbox.push({ headers: request.headers as Record<string, string>, body: JSON.parse(text) as Message['body'], text })
      response.writeHead(statuses.shift() ?? 204).end()
    })
  })
  await new Promise<void>(resolve => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/desk`, inbox }
}

/** Written apart from the product, by the specification Standard Webhooks. */
function sign (text: string, { secret = SECRET, id = 'msg_1', time = Math.floor(Date.now() / 1_000) } = {}): Record<string, string> {
  const signature = createHmac('sha256', secret).update(`${id}.${time}.${text}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signature}` }
}

async function open (t: Test, rule: Partial<Options['rules'][number]> = {}, statuses?: number[]) {
  const ran: string[] = []
  const { url: desk, inbox } = await receiver(t, statuses)
  const { app, url } = await listening(t, {
    tools: false,
    rules: [{ ask: ['pay'], by: 'operator', wait: 60_000, ...rule }],
    approvalWebhook: { url: desk, secret: SECRET },
    plugins: [async ({ mcp: { tools } }) => {
      const input = Type.Object({ amount: Type.Number(), text: Type.Optional(Type.String()) })
      tools.add(tool({ name: 'pay', description: '', input, run: args => { ran.push(JSON.stringify(args)); return 'paid' } }))
    }]
  })
  const client = new Speaker(app, { identity: ADA })
  const post = async (text: string, headers: Record<string, string>): Promise<{ status: number, code: unknown }> => {
    const response = await fetch(`${url}/approvals/answer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: text
    })
    const body = await response.text()
    return { status: response.status, code: body === '' ? undefined : (JSON.parse(body) as { code?: unknown, error?: Json }).code ?? body }
  }
  const answer = async ({ body: { id, digest } }: Message, decision: string, how = {}): ReturnType<typeof post> => {
    const text = JSON.stringify({ id, digest, decision })
    return await post(text, sign(text, how))
  }
  return { app, client, ran, inbox, post, answer }
}

t.test('a call that waits is sent with a signature, and runs once when a signed answer approves it', async t => {
  const { client, ran, inbox, answer } = await open(t, { message: 'This costs money.' })
  const call = client.tool('pay', { amount: 5, text: 'a\u202eb' })
  const message = await inbox.next()
  t.match(message.body, {
    type: 'approval.requested',
    caller: 'ada',
    name: 'pay',
    arguments: { amount: 5, text: 'a\u202eb' },
    rule: 'rules.0',
    question: /^This costs money\.\nRun pay with these arguments[^]*a\\u\{202e\}b/
  })
  const { 'webhook-id': id = '', 'webhook-timestamp': time } = message.headers
  t.equal(id, message.body.id)
  t.match(message.headers, sign(message.text, { id, time: Number(time) }), 'as the specification signs')
  t.strictSame(ran, [])
  t.match(await answer(message, 'approve'), { status: 204 })
  t.equal(textOf(await call), 'paid')
  t.match(await answer(message, 'approve'), { status: 409 }, 'a replay')
  t.strictSame(ran, [JSON.stringify({ amount: 5, text: 'a\u202eb' })])
})

t.test('a signed decline is one, and what is no answer of this secret and this call decides nothing', async t => {
  const { client, ran, inbox, answer, post } = await open(t)
  const call = client.tool('pay', { amount: 1 })
  const message = await inbox.next()
  const { id, digest } = message.body
  const old = Math.floor(Date.now() / 1_000) - 400
  t.match(await answer(message, 'approve', { secret: `${SECRET}!` }), { status: 403, code: /PATCHBAY_SIGNATURE_REFUSED/ })
  t.match(await answer(message, 'approve', { time: old }), { status: 403 }, 'an old one')
  t.match(await answer(message, 'approve', { time: old + 900 }), { status: 403 }, 'one of the future')
  const text = JSON.stringify({ id, digest, decision: 'decline' })
  t.match(await post(JSON.stringify({ id, digest, decision: 'approve' }), sign(text)), { status: 403 }, 'another body')
  t.match(await post(text, { ...sign(text), 'webhook-id': 'other' }), { status: 403 }, 'another id')
  t.match(await post(text, {}), { status: 403 }, 'no signature')
  t.match(await post(text, { ...sign(text), 'webhook-signature': 'v1,' }), { status: 403 })
  t.match(await post(message.text, message.headers), { status: 400, code: /PATCHBAY_WRONG_APPROVAL/ }, 'the message itself, sent back')
  for (const wrong of ['[]', '{', '{"id":1}', JSON.stringify({ id, digest, decision: 'maybe' }), JSON.stringify({ id, decision: 'approve' })]) {
    t.match(await post(wrong, sign(wrong)), { status: 400 }, wrong)
  }
  t.match(await answer({ ...message, body: { ...message.body, digest: 'x' } }, 'approve'), { status: 409, code: /PATCHBAY_NO_CALL_WAITS/ })
  t.match(await answer({ ...message, body: { ...message.body, id: id.slice(0, -1) } }, 'approve'), { status: 409 }, 'another question')
  const long = JSON.stringify({ id, digest, decision: 'approve', more: 'x'.repeat(5_000) })
  t.match(await post(long, sign(long)), { status: 413 })
  t.strictSame(ran, [])
  t.match(await answer(message, 'decline'), { status: 204 })
  t.match(textOf(await call), /the operator declined this call/)
  t.match(await answer(message, 'approve'), { status: 409 }, 'too late')
  t.strictSame(ran, [])
})

t.test('an answer to an earlier question does not answer a later one about the same call', async t => {
  const { client, ran, inbox, answer } = await open(t)
  const first = client.tool('pay', { amount: 1 })
  const message = await inbox.next()
  await answer(message, 'approve')
  t.equal(textOf(await first), 'paid')
  const second = client.tool('pay', { amount: 1 })
  const next = await inbox.next()
  t.not(next.body.id, message.body.id)
  t.match(await answer(message, 'approve'), { status: 409 }, 'the answer of before, signed anew')
  t.equal(ran.length, 1)
  t.match(await answer(next, 'approve'), { status: 204 })
  t.equal(textOf(await second), 'paid')
})

t.test('two equal calls at once are asked about one after the other, and each answer runs one', async t => {
  const { client, ran, inbox, answer } = await open(t)
  const calls = [client.tool('pay', { amount: 1 }), client.tool('pay', { amount: 1 })]
  const message = await inbox.next()
  t.match(await answer(message, 'approve'), { status: 204 })
  t.equal(textOf(await Promise.race(calls)), 'paid')
  let next = await inbox.next()
  // Both calls may have sent the first question.
  while (next.body.id === message.body.id) next = await inbox.next()
  t.equal(ran.length, 1)
  t.match(await answer(next, 'approve'), { status: 204 })
  await Promise.all(calls)
  t.equal(ran.length, 2)
})

t.test('an answer that comes after the time of the rule runs nothing', async t => {
  const { client, ran, inbox, answer } = await open(t, { wait: 1_000 })
  const call = client.tool('pay', { amount: 1 })
  const message = await inbox.next()
  t.match(textOf(await call), /it needs an approval of the operator, and there is none/)
  t.match(await answer(message, 'approve'), { status: 409 })
  t.strictSame(ran, [])
})

t.test('a proposal that is not taken is sent again with the same id, and health says what is wrong', async t => {
  const { app, client, inbox, answer } = await open(t, {}, [500])
  const call = client.tool('pay', { amount: 1 })
  const first = await inbox.next()
  await until(() => /webhook for approvals at http:.* answered with the status 500/.test(JSON.stringify(app.mcp.health.now())), 'health says so')
  const second = await inbox.next()
  t.equal(second.body.id, first.body.id)
  t.match(await answer(second, 'approve'), { status: 204 })
  t.equal(textOf(await call), 'paid')
})

t.test('a webhook has to have a safe address and a long secret, and without one there is no route', async t => {
  for (const approvalWebhook of [
    { url: 'http://desk.example.com/', secret: SECRET },
    { url: 'https://ada:key@desk.example.com/', secret: SECRET },
    { url: 'https://desk.example.com/', secret: 'short' }
  ]) await t.rejects(listening(t, { approvalWebhook }), { message: /option approvalWebhook\.(url|secret) must/ })
  const { url } = await listening(t)
  t.equal((await fetch(`${url}/approvals/answer`, { method: 'POST' })).status, 404)
})

t.test('a secret behind whsec_ has to be Base64: of other characters, the key would be empty', async t => {
  const mistake = (secret: string): string => {
    try {
      resolveOptions({ approvalWebhook: { url: 'https://desk.example.com/', secret } })
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  for (const secret of [`whsec_${'!'.repeat(40)}`, `whsec_${'…'.repeat(40)}`, 'whsec_c2hvcnQ=', 'x'.repeat(23)]) {
    t.match(mistake(secret), /^option approvalWebhook\.secret must have at least 24 characters/, secret)
  }
  for (const secret of [`whsec_${'Ab+/'.repeat(8)}`, 'x'.repeat(24)]) t.equal(mistake(secret), '', secret)
})
