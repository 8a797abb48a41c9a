import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { openRedirectListener } from '../../../upstreams/sign-in/redirect-listener.js'

t.test('a request whose target is no URL is answered, and the listener goes on', async t => {
  const listener = await openRedirectListener()
  t.teardown(listener.close)
  const answers: string[] = []
  listener.listen('the-state', parameters => {
    answers.push(parameters.get('code') ?? '')
    return 'taken'
  }, () => {})
  for (const target of ['//', 'http://[', '//[::1/callback']) {
    const socket = connect(Number(new URL(listener.redirectUri).port), '127.0.0.1')
    socket.setTimeout(5_000, () => socket.destroy())
    socket.setEncoding('latin1').write(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
    let text = ''
    socket.on('data', (chunk: string) => { text += chunk })
    await once(socket, 'close')
    t.match(text, /^HTTP\/1\.1 400 /, target)
  }
  const reply = await fetch(`${listener.redirectUri}?state=the-state&code=abc`)
  t.equal(reply.status, 200)
  t.same(answers, ['abc'])
})

t.test('an answer with another state is refused, and told of once however many come', async t => {
  const listener = await openRedirectListener()
  t.teardown(listener.close)
  let foreign = 0
  listener.listen('the-state', () => 'taken', () => { foreign++ })
  for (const query of ['', '?state=', '?state=other&code=abc', '?code=abc&state=the-stat']) {
    const reply = await fetch(listener.redirectUri + query)
    t.equal(reply.status, 400)
    t.notMatch(await reply.text(), /abc|other/)
  }
  t.equal(foreign, 1)
  t.equal((await fetch(`${listener.redirectUri}?state=the-state`, { method: 'POST' })).status, 404)
})
