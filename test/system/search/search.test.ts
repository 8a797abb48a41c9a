import { EventEmitter, once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { connectionFailure } from '../../../system/search/failure.js'
import { search } from '../../../system/search/search.js'
import { TLS } from '../../support/environment/tls.js'
import { until, within } from '../../support/wait.js'
import { anomaly, found, page, result, three } from '../../support/environment/search-pages.js'
import { attend, giving, service } from '../../support/environment/search-service.js'

const HTML = { 'content-type': 'text/html; charset=UTF-8' }
const never = new AbortController().signal

const ask = async (url: string, { query = 'mcp', timeout = 5_000, signal = never } = {}) =>
  await search(new URL(url), { query, max: 20, timeout, signal })

/** Fails with exactly these words. */
async function fails (t: Test, url: string, message: string | RegExp, timeout?: number): Promise<void> {
  await t.rejects(ask(url, timeout === undefined ? {} : { timeout }), { name: 'SearchFailure', message })
}

t.test('the query is a parameter beside those the address has, whatever is in it', async t => {
  const { url, requests } = await giving(t, three)
  const odd = 'a&b=c#d +%20 é "x"\r\nHost: evil\r\n\r\nGET /\u0000'
  t.strictSame(await ask(`${url}?kl=de-de&q=old`, { query: odd }), found)
  t.equal(requests.length, 1)
  const { pathname, searchParams } = new URL(requests[0] as string, url)
  t.equal(pathname, '/html/')
  t.strictSame([...searchParams], [['kl', 'de-de'], ['q', odd]])
})

t.test('the request names the gateway and the content types it accepts', async t => {
  const { url } = await service(t, ({ headers }, response) => {
    t.match(headers, { 'user-agent': /mcp-patchbay/, accept: /^text\/html/, 'accept-language': /^en/ })
    response.writeHead(200, HTML).end(three)
  })
  t.strictSame(await ask(url), found)
})

t.test('a page is decoded by its charset', async t => {
  const html = (title: string) => page(result(title, 'https://a.example/'))
  const pages: Array<[type: string, bytes: Buffer, title: string]> = [
    ['text/html; charset=ISO-8859-1', Buffer.from(html('Größe'), 'latin1'), 'Größe'],
    ['text/html;charset="utf-16le"', Buffer.from(html('Größe 😀'), 'utf16le'), 'Größe 😀'],
    ['text/html; charset=shift_jis', Buffer.from(html('\x93\xfa\x96\x7b'), 'latin1'), '日本'],
    ['TEXT/HTML', Buffer.from(html('Größe 😀')), 'Größe 😀'],
    ['application/xhtml+xml', Buffer.from(html('日本')), '日本']
  ]
  for (const [type, bytes, title] of pages) {
    const { url } = await giving(t, bytes, 200, type)
    t.strictSame((await ask(url)).map(({ title }) => title), [title], type)
  }
})

t.test('a reply that is not a page of results fails', async t => {
  const NONE = 'The search service sent something that is not a results page'
  await fails(t, (await giving(t, '{"results":[]}', 200, 'application/json')).url, NONE)
  await fails(t, (await giving(t, three, 200, 'image/png')).url, NONE)
  await fails(t, (await giving(t, three, 200, 'text')).url, NONE)
  await fails(t, (await giving(t, '<h1>It works!</h1>')).url, NONE)
  await fails(t, (await giving(t, '')).url, NONE)
  await fails(
    t,
    (await giving(t, three, 200, 'text/html; charset=klingon')).url,
    'The search service sent a page in a charset that is not known here'
  )
})

t.test('a status that is not success is named', async t => {
  for (const status of [204, 403, 404, 429, 500, 503]) {
    await fails(t, (await giving(t, three, status)).url, `The search service answered with status ${status}`)
  }
  await fails(t, (await giving(t, three, 302)).url, 'The search service answered with status 302')
})

t.test('a body that is not needed is not waited for, and its connection ends', async t => {
  for (const [status, type] of [
    [503, 'text/html'],
    [302, 'text/html'],
    [200, 'image/png']
  ] as Array<[number, string]>) {
    const events = new EventEmitter()
    const { url } = await service(t, (_request, response) => {
      response.on('close', () => {
        events.emit('gone')
      })
      response.writeHead(status, { 'content-type': type, location: 'https://elsewhere.example/' }).write('and so on')
    })
    await within(
      30_000,
      async signal =>
        await Promise.all([
          once(events, 'gone', { signal }),
          fails(t, url, /^The search service (answered|redirects|sent)/)
        ])
    )
  }
})

t.test('a page that asks for proof of a person is one, with status 202 or 200', async t => {
  for (const status of [202, 200]) {
    await fails(
      t,
      (await giving(t, anomaly, status)).url,
      'The search service asks for proof that a person is searching; try again later'
    )
  }
})

t.test('a redirect on the same host is followed, three times', async t => {
  const { url, requests } = await service(t, ({ url }, response) => {
    const left = Number(new URL(url ?? '', 'http://x').searchParams.get('left'))
    if (left === 0) response.writeHead(200, HTML).end(three)
    else response.writeHead(302, { location: `/moved?left=${left - 1}` }).end('moved')
  })
  t.strictSame(await ask(`${url}?left=3`), found)
  t.equal(requests.length, 4)
  await fails(t, `${url}?left=4`, 'The search service redirects more than 3 times')
})

t.test('a redirect to another host is refused and not followed', async t => {
  const other = await giving(t, three)
  const { port } = new URL(other.url)
  const elsewhere = [
    other.url,
    `//127.0.0.1:${port}/html/`,
    `http://localhost:${port}/`,
    'https://127.0.0.1/',
    'file:///etc/passwd',
    'javascript:alert(1)'
  ]
  for (const location of elsewhere) {
    const { url } = await service(t, (_request, response) => { response.writeHead(301, { location }).end() })
    await fails(t, url, /^The search service redirects to another host, which is not followed/)
  }
  t.equal(other.connections.length, 0)
})

t.test('a redirect that makes no sense is refused', async t => {
  const { url } = await service(t, ({ url: path, headers }, response) => {
    const locations: Record<string, string> = {
      nothing: 'http://[',
      user: `http://user:pass@${headers.host}/`,
      blob: `blob:http://${headers.host}/x`
    }
    response.writeHead(302, { location: locations[new URL(path ?? '', url).searchParams.get('to') ?? ''] }).end()
  })
  await fails(t, `${url}?to=nothing`, 'The search service redirects to something that cannot be followed')
  await fails(t, `${url}?to=user`, 'The search service redirects to something that cannot be followed')
  await fails(t, `${url}?to=blob`, /redirects to another host/)
})

t.test('the time is limited before the headers, in the body, and after a redirect', async t => {
  const open = new Set<object>()
  const { url, requests } = await service(t, ({ url: path }, response) => {
    open.add(response)
    response.on('close', () => { open.delete(response) })
    if (path?.includes('body') === true) response.writeHead(200, HTML).write('<html>')
    if (path?.includes('redirect') === true) response.writeHead(302, { location: '/hang' }).end()
  })
  for (const where of ['headers', 'body', 'redirect']) {
    await within(
      30_000,
      async signal =>
        await t.rejects(
          ask(`${url}?${where}`, { timeout: 1_000, signal }),
          { name: 'SearchFailure', message: 'Network timeout' },
          where
        )
    )
  }
  t.strictSame(requests, ['/html/?headers=&q=mcp', '/html/?body=&q=mcp', '/html/?redirect=&q=mcp', '/hang'])
  await until(() => open.size === 0)
})

t.test('a cancelled search ends at once, with its connection', async t => {
  for (const where of ['headers', 'body']) {
    const events = new EventEmitter()
    const { url } = await service(t, (_request, response) => {
      if (where === 'body') response.writeHead(200, HTML).write('<html>')
      response.on('close', () => { events.emit('gone') })
      events.emit('asked')
    })
    await within(30_000, async signal => {
      const stop = new AbortController()
      const asked = once(events, 'asked', { signal })
      const gone = once(events, 'gone', { signal })
      const answer = t.rejects(ask(url, { signal: stop.signal }), { message: 'enough' }, where)
      await asked
      stop.abort(new Error('enough'))
      await Promise.all([answer, gone])
    })
  }
})

t.test('a search cancelled beforehand sends nothing', async t => {
  const { url, connections } = await giving(t, three)
  await t.rejects(ask(url, { signal: AbortSignal.abort(new Error('enough')) }), { message: 'enough' })
  t.equal(connections.length, 0)
})

t.test('a page may have 2 MiB, and not a byte more', async t => {
  const limit = 2 * 1024 * 1024
  const { url } = await giving(t, three.padEnd(limit))
  t.strictSame(await ask(url), found)
  await fails(t, (await giving(t, three.padEnd(limit + 1))).url, 'The search service sent more than 2 MiB')
})

t.test('a body without end is cut', async t => {
  const events = new EventEmitter()
  const { url } = await service(t, (_request, response) => {
    const pour = () => { while (!response.destroyed && response.write('x'.repeat(65_536))); }
    response.on('drain', pour).on('close', () => { events.emit('gone') })
    response.writeHead(200, HTML)
    pour()
  })
  await within(
    30_000,
    async signal =>
      await Promise.all([once(events, 'gone', { signal }), fails(t, url, 'The search service sent more than 2 MiB')])
  )
})

t.test('a small body that unpacks into a large one is cut, too', async t => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
  t.ok(bomb.length < 64_000)
  const { url } = await service(t, (_request, response) => {
    response.writeHead(200, { ...HTML, 'content-encoding': 'gzip' }).end(bomb)
  })
  await fails(t, url, 'The search service sent more than 2 MiB')
})

t.test('a connection that fails is described in an error text', async t => {
  const cut = await service(t, ({ socket }) => { socket.resetAndDestroy() })
  await fails(t, cut.url, /^The search service cut the connection \((ECONNRESET|UND_ERR_SOCKET)\)$/)

  for (const length of [{}, { 'content-length': '1000' }]) {
    const halfway = await service(t, (_request, response) => {
      response.writeHead(200, { ...HTML, ...length }).write(three.slice(0, 500), () => response.destroy())
    })
    await fails(t, halfway.url, /^The search service cut the connection \(/)
  }

  const closed = createServer()
  const { url } = await attend(t, closed)
  await new Promise(resolve => closed.close(resolve))
  await fails(t, url, 'The search service could not be reached (ECONNREFUSED: nothing listens at its address)')

  const babble = await attend(t, createServer(socket => { socket.end('220 mail.example ESMTP\r\n') }))
  await fails(
    t,
    babble.url,
    /^The search service answered with something that is not HTTP \((HPE_\w+|HTTPParserError)\)$/
  )
  await fails(
    t,
    babble.url.replace('http:', 'https:'),
    /^The search service answered with something that is not HTTP \(\w+\)$/
  )

  const untrusted = await attend(t, createTlsServer(TLS))
  await fails(
    t,
    untrusted.url.replace('http:', 'https:'),
    'The search service shows a certificate that is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT)'
  )

  await fails(
    t,
    'http://nowhere.invalid/',
    /^The search service could not be reached \((ENOTFOUND|EAI_AGAIN): its name .* internet/,
    20_000
  )
  await fails(t, 'http://127.0.0.1:1/', 'The search service could not be reached')
})

t.test('of an error of the network only the code is repeated', async t => {
  const messageFor = (cause: object) =>
    connectionFailure(new TypeError('fetch failed', { cause: Object.assign(new Error('/home/secret'), cause) })).message
  t.equal(
    messageFor({ code: 'ENOTFOUND' }),
    'The search service could not be reached (ENOTFOUND: its name has no address; check the connection to the internet, or the option searchUrl)'
  )
  t.equal(
    messageFor({ code: 'EAI_AGAIN' }),
    'The search service could not be reached (EAI_AGAIN: its name could not be looked up; check the connection to the internet)'
  )
  t.equal(
    messageFor({ code: 'ENETUNREACH' }),
    'The search service could not be reached (ENETUNREACH: there is no way to its network; check the connection to the internet)'
  )
  t.equal(messageFor({ code: 'EACCES' }), 'The search service could not be reached (EACCES)')
  t.equal(
    messageFor({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    'The search service shows a certificate that is not trusted here (ERR_TLS_CERT_ALTNAME_INVALID)'
  )
  t.equal(
    messageFor({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }),
    'The search service shows a certificate that is not trusted here (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'
  )
  for (const code of ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']) t.equal(messageFor({ code }), 'Network timeout')
  for (const odd of [{ code: 'in /home/secret' }, { code: 7 }, {}]) {
    t.equal(messageFor(odd), 'The search service could not be reached')
  }
})
