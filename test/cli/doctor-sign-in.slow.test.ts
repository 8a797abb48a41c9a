import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { describeServer } from '../../cli/doctor/servers.js'
import type { ServerReading } from '../../cli/report/read-servers.js'
import { browse } from '../support/environment/authorization-server.js'
import { launch } from '../support/process.js'
import { until } from '../support/wait.js'
import { openPlace } from '../upstreams/sign-in/place.js'

t.test('doctor says which server needs a sign-in, and how long the sign-in of another lasts', async t => {
  const { options, server } = await openPlace(t)
  const data = String(options.data)
  const file = join(await mkdtemp(join(data, 'config-')), 'patchbay.json')
  await writeFile(file, JSON.stringify({ mcpServers: options.mcpServers }))
  const flags = ['--config', file, '--data', data]
  const diagnose = async () => await launch(t, ['doctor', '--port', '0', ...flags]).exit()

  const before = await diagnose()
  t.match(before, { code: 12, stdout: /^down +linear +it does not work: /m })
  t.match(before.stdout, /^ +-> run patchbay login linear with the same options, or put a credential into headers of its entry$/m)

  const login = launch(t, ['login', 'linear', ...flags])
  await until(() => /^http:\/\/\S+$/m.test(login.stdout), 'an address')
  await browse(/^http:\/\/\S+$/m.exec(login.stdout)?.[0] ?? '')
  t.match(await login.exit(), { code: 0 })

  const after = await diagnose()
  t.match(after, { code: 0, stderr: '' })
  t.match(after.stdout, /^ok +linear +\d+ tools.*; http, .*; signed in at http:\/\/127\.0\.0\.1:\d+, renewed by itself$/m)
  t.ok(server.tokens.length > 0)
  for (const token of server.tokens) t.notOk(after.stdout.includes(token), 'no token is printed')

  t.match(await launch(t, ['logout', 'linear', ...flags]).exit(), { code: 0 })
  const again = await diagnose()
  t.match(again, { code: 12, stdout: /^down +linear +it does not work: /m }, 'it knows of the key, and of no sign-in')
  t.match(again.stdout, /^ +-> run patchbay login linear /m)
})

t.test('a sign-in that ends soon, or is for too little, is a warning', async t => {
  const reading: Omit<ServerReading, 'signIn'> = {
    alias: 'far',
    state: 'read',
    transport: 'http',
    revision: undefined,
    url: 'https://example.com/mcp',
    tools: 1,
    repairs: [],
    isRepaired: true,
    warnings: [],
    error: undefined,
    lastLines: [],
    ms: 100,
    hasCredential: false
  }
  const signIn = { alias: 'far', state: 'signed in', issuer: 'https://issuer.example', isRenewable: false } as const
  const hours = (count: number): number => Date.now() + count * 3_600_000
  for (const [state, level, said] of [
    [{ ...signIn, expiresAt: hours(48) }, 'ok', /; signed in at https:\/\/issuer\.example, until \d{4}-\d\d-\d\dT/],
    [signIn, 'ok', /, without an end$/],
    [{ ...signIn, expiresAt: hours(2), isRenewable: true }, 'ok', /, renewed by itself$/],
    [{ ...signIn, expiresAt: hours(2) }, 'warning', /the sign-in ends soon, and cannot be renewed: run patchbay login far$/],
    [
      { ...signIn, state: 'needs sign-in', why: 'it asks for the scopes x' },
      'warning',
      /it asks for the scopes x: run patchbay login far$/
    ]
  ] as Array<[typeof signIn, string, RegExp]>) {
    const { text, advice = '', level: found } = describeServer({ ...reading, signIn: state })
    t.equal(found, level)
    t.match(advice === '' ? text : advice, said)
  }
})
