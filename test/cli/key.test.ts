import t from 'tap'
import { createKey } from '../../cli/commands/key.js'
import { listed } from '../support/keys.js'
import { startIssuer } from '../support/environment/issuer.js'
import { folder, initialize, launch, PROCESSES, toolCall } from '../support/process.js'

const names = (result: unknown): string[] =>
  (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)

t.test('a new key has the basic scope unless scopes are given', async t => {
  const { key, advice } = createKey(['ci'])
  t.match(key, /^pb_/)
  t.match(advice, '"scopes":["mcp"]')
})

t.test('a scope that nothing asks for is remarked on, with the one that was meant', async t => {
  t.match(
    createKey(['bob', '--scope', 'nots']).advice,
    /^patchbay: nothing built in asks for the scope "nots"; did you mean "notes"\?\n/
  )
  t.match(
    createKey(['bob', '--scope', 'warehouse']).advice,
    /^patchbay: nothing built in asks for the scope "warehouse"; a tool of yours may\n/
  )
  t.match(
    createKey(['bob', '--scope', 'ordres'], { scopes: { 'tools/ship': ['orders:write'] } }).advice,
    /did you mean "orders"/
  )
  for (const scope of ['mcp', 'admin', 'notes', 'notes:write', 'exec', 'orders']) {
    t.notMatch(
      createKey(['bob', '--scope', scope], { scopes: { 'tools/ship': ['orders:write'] } }).advice,
      /nothing built in/,
      scope
    )
  }
})

const MISTAKES: Array<[args: string[], expected: RegExp]> = [
  [[], /patchbay key NAME/],
  [['a', 'b'], /patchbay key NAME/],
  [['a b'], /letters, digits.*not "a b"/],
  [['a', '--scope', 'b c'], /neither spaces nor quotes.*"b c"/],
  [['a', '--port', '1'], /--port.*patchbay --help/]
]

t.test('an invalid name or scope makes no key', async t => {
  for (const [args, expected] of MISTAKES) t.throws(() => createKey(args), { message: expected }, args.join(' '))
})

t.test('keys and tokens on the command line', async t => {
  t.jobs = PROCESSES

  t.test('what the config file asks for is known to the command that makes keys', { buffered: true }, async t => {
    const cwd = await folder(t, {
      'c.json': JSON.stringify({ scopes: { 'tools/calculate': ['maths'] } }),
      'broken.json': '{'
    })
    const made = async (scope: string, config: string) =>
      await launch(t, ['key', 'ci', '--scope', scope], { cwd, env: { PATCHBAY_CONFIG: config } }).exit()
    t.match(await made('mahts', 'c.json'), { code: 0, stdout: /^pb_/, stderr: /did you mean "maths"/ })
    t.notMatch((await made('maths', 'c.json')).stderr, /nothing built in/)
    t.match(await made('maths', 'broken.json'), { code: 0, stdout: /^pb_/, stderr: /nothing built in/ })
  })

  t.test('a new key is printed once, and what to paste makes it work', { buffered: true }, async t => {
    const { code, stdout, stderr } = await launch(t, ['key', 'ci', '--scope', 'mcp', '--scope', 'notes']).exit()
    t.equal(code, 0)
    t.match(stdout, /^pb_[\w-]{43}\n$/, 'the key alone')
    t.notOk(stderr.includes(stdout.trim()))
    const config = JSON.parse(/\{\n[^]*?\n\}/.exec(stderr)?.[0] ?? '{}') as { apiKeys: object[] }
    t.match(config.apiKeys, [{ name: 'ci', hash: /^sha256:/, scopes: ['mcp', 'notes'] }])
    const [, variable = ''] = /^PATCHBAY_API_KEYS='(.*)'$/m.exec(stderr) ?? []
    t.strictSame(JSON.parse(variable), config.apiKeys)

    const cwd = await folder(t, { 'c.json': JSON.stringify(config) })
    const url = await launch(t, ['--config', 'c.json', '--port', '0', '--ephemeral'], { cwd }).url()
    const visit = async (key: string) =>
      (
        await fetch(`${url}/message`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        })
      ).status
    t.equal(await visit(stdout.trim()), 200)
    t.equal(await visit(`${stdout.trim()}x`), 401)
  })

  t.test('a name that is not valid is an error of one line', { buffered: true }, async t => {
    t.match(await launch(t, ['key', 'a b']).exit(), {
      code: 1,
      stdout: '',
      stderr: /^patchbay: the name of a key.*\n$/
    })
  })

  t.test('stdio has the identity of its token', { buffered: true }, async t => {
    const env = {
      PATCHBAY_API_KEYS: JSON.stringify([listed('ada', 'pb_ada', ['mcp', 'notes'])]),
      PATCHBAY_TOKEN: 'pb_ada'
    }
    const launched = launch(t, ['--stdio', '--ephemeral'], { env })
    launched.send(
      initialize,
      { id: 1, method: 'tools/list' },
      toolCall(2, 'add_note', { content: 'x' }),
      toolCall(3, 'web_search', { query: 'x' })
    )
    await launched.next()
    const listedNames = names((await launched.next()).result)
    t.ok(listedNames.includes('add_note') && !listedNames.includes('web_search'))
    const answers = new Map([await launched.next(), await launched.next()].map(answer => [answer.id, answer]))
    t.match(answers.get(2), { result: {} })
    t.match(answers.get(3), { error: { code: -32602, message: /web_search/ } }, 'what it may not use is not there')
    launched.end()
    const { stderr } = await launched.exit()
    t.notMatch(stderr, 'pb_ada')
  })

  t.test('stdio without a token may do everything, also where HTTP needs credentials', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--ephemeral'], {
      env: { PATCHBAY_API_KEYS: JSON.stringify([listed('ada', 'pb_ada')]) }
    })
    launched.send(initialize, { id: 1, method: 'tools/list' })
    await launched.next()
    t.ok(names((await launched.next()).result).includes('web_search'))
    launched.end()
    await launched.exit()
  })

  t.test('an access token is checked in the same way', { buffered: true }, async t => {
    const issuer = await startIssuer(t)
    const PATCHBAY_OAUTH = JSON.stringify(issuer.options)
    const launched = launch(t, ['--stdio', '--ephemeral'], {
      env: { PATCHBAY_OAUTH, PATCHBAY_TOKEN: await issuer.sign() }
    })
    launched.send(initialize)
    t.match(await launched.next(), { id: 'hello', result: {} })
    launched.end()
    t.match(await launched.exit(), { code: 0 })
  })

  for (const [what, env, expected] of [
    [
      'that is not known',
      { PATCHBAY_API_KEYS: JSON.stringify([listed('ada', 'pb_ada')]), PATCHBAY_TOKEN: 'pb_secret' },
      /^patchbay: option token is not accepted: the API key is not known\n$/
    ],
    [
      'whose issuer is not there',
      {
        PATCHBAY_OAUTH: JSON.stringify({ issuer: 'http://127.0.0.1:1', resource: 'https://gateway.test/mcp' }),
        PATCHBAY_TOKEN: 'a.b.c',
        PATCHBAY_LOG_LEVEL: 'silent'
      },
      /^patchbay: option token is not accepted: .*\n$/
    ]
  ] as Array<[string, Record<string, string>, RegExp]>) {
    t.test(`a token ${what} stops the start`, { buffered: true }, async t => {
      const { code, stdout, stderr } = await launch(t, ['--stdio', '--ephemeral'], { env }).exit()
      t.match({ code, stdout }, { code: 1, stdout: '' })
      t.match(stderr, expected)
      t.notMatch(stderr, 'pb_secret')
    })
  }
})

t.test('a key is bound to a view by --view', async t => {
  t.match(createKey(['ci', '--view', 'release']).advice, '"view":"release"')
})
