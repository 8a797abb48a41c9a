import t from 'tap'
import { ADA, apiKeys } from '../../support/keys.js'
import { until } from '../../support/wait.js'
import { echo, linkFor, namesFor } from './callers.js'
import { loggedGateway, openPlace, PageVisitor } from './place.js'

t.test('over https, the cookie of a sign-in is one that no other host of the domain can set', async t => {
  const redirectUri = 'https://gateway.example/team/sign-in/callback'
  const place = await openPlace(t, { entry: { auth: 'caller', oauth: { redirectUri } } })
  const { app, log } = await loggedGateway(t, { ...place.options, apiKeys })
  const visitor = new PageVisitor(app)
  const link = await linkFor(app, ADA)
  t.match(link, /^https:\/\/gateway\.example\/team\/sign-in\?link=/)
  const page = await visitor.send(link, ADA)
  t.match(page.headers['set-cookie'], /^__Host-patchbay-sign-in-[\w-]{12}=[\w-]{43}; Path=\/; Secure; Max-Age=600; HttpOnly; SameSite=Lax$/)
  const back = await visitor.follow(page)
  t.ok(back.startsWith(`${redirectUri}?`))
  const answer = new URL(back)
  const atGateway = `https://gateway.example/sign-in/callback${answer.search}`
  t.match((await visitor.get(atGateway)).body, /You are signed in/)
  await until(async () => (await namesFor(app, ADA)).includes('linear__echo'))
  t.match(await echo(app, ADA, 'hello'), { result: { content: [{ text: /hello/ }] } })
  const [code = '', state = ''] = ['code', 'state'].map(name => answer.searchParams.get(name) ?? '')
  for (const secret of [code, state, new URL(link).searchParams.get('link') ?? '']) {
    t.ok(secret.length > 20)
    t.strictSame(log.filter(line => line.includes(secret)), [], 'neither link nor answer is in the log')
  }
})
