import t, { type Test } from 'tap'
import { build, createClient, type Client } from '../../app.js'

async function connected (t: Test): Promise<Client> {
  const app = await build({ http: false })
  t.teardown(async () => await app.close())
  return await createClient(app)
}

t.test('calculate', async t => {
  const { request } = await connected(t)
  const calculate = async (operation: string, a: unknown, b: unknown) =>
    await request('tools/call', { name: 'calculate', arguments: { operation, a, b } })

  const SUMS: Array<[operation: string, a: number, b: number, text: string, result: number]> = [
    ['add', 5, 3, '5 + 3 = 8', 8],
    ['subtract', 5, 8, '5 - 8 = -3', -3],
    ['multiply', 6, 7, '6 * 7 = 42', 42],
    ['divide', 1, 4, '1 / 4 = 0.25', 0.25]
  ]
  for (const [operation, a, b, text, result] of SUMS) {
    t.test(text, async t =>
      t.strictSame(await calculate(operation, a, b), {
        content: [{ type: 'text', text }],
        structuredContent: { result },
        isError: false
      })
    )
  }

  t.test('a division by zero and a result that is too large are error results', async t => {
    t.strictSame(await calculate('divide', 1, 0), {
      content: [{ type: 'text', text: 'Error: Division by zero' }],
      isError: true
    })
    t.match(await calculate('multiply', 1e308, 10), { isError: true, content: [{ text: /too large/ }] })
  })

  t.test('an invalid argument is refused by name', async t => {
    t.match(await calculate('modulo', 1, 2), {
      isError: true,
      content: [{ text: /operation.*"add", "subtract", "multiply", "divide"/ }]
    })
    t.match(await calculate('add', '1', 2), { isError: true, content: [{ text: /a must be number/ }] })
  })
})

t.test('get_current_time', async t => {
  const { request } = await connected(t)
  const time = async (args: object) =>
    (await request('tools/call', { name: 'get_current_time', arguments: { ...args } })) as {
      content: Array<{ text: string }>
      structuredContent: { iso: string, timeZone: string, local: string }
    }

  t.test('returns the time in UTC', async t => {
    const { content, structuredContent: { iso, timeZone } } = await time({})
    t.equal(content[0]?.text, iso)
    t.equal(timeZone, 'UTC')
    t.ok(Math.abs(Date.now() - Date.parse(iso)) < 60_000)
  })

  t.test('returns the time in another time zone', async t => {
    const { content, structuredContent: { iso, timeZone, local } } = await time({ timeZone: 'Asia/Tokyo' })
    t.equal(timeZone, 'Asia/Tokyo')
    t.equal(content[0]?.text, `${local} (${iso})`)
    t.match(local, `${String((new Date(iso).getUTCHours() + 9) % 24).padStart(2, '0')}:`)
  })

  t.test('refuses an unknown time zone', async t =>
    t.match(await time({ timeZone: 'Mars/Olympus' }), {
      isError: true,
      content: [{ text: /"Mars\/Olympus" is not a time zone/ }]
    })
  )
})

t.test('server://status has the status and the uptime', async t => {
  const { request } = await connected(t)
  const {
    contents: [status]
  } = (await request('resources/read', { uri: 'server://status' })) as {
    contents: [{ text: string, mimeType: string }]
  }
  t.equal(status.mimeType, 'application/json')
  t.match(JSON.parse(status.text), { status: 'healthy', uptime: Number })
})

t.test('greeting asks for a greeting in each of its styles', async t => {
  const { request } = await connected(t)
  t.match(await request('prompts/get', { name: 'greeting', arguments: { name: 'Alice', style: 'formal' } }), {
    messages: [{ role: 'user', content: { type: 'text', text: 'Please greet Alice in a formal style.' } }]
  })
  t.match(await request('prompts/get', { name: 'greeting', arguments: { name: 'Alice' } }), {
    messages: [{ content: { text: 'Please greet Alice in a casual style.' } }]
  })
  t.match(
    await request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greeting' },
      argument: { name: 'style', value: 'f' }
    }),
    { completion: { values: ['formal'] } }
  )
})

t.test('health reports that the server is up', async t => {
  const app = await build({ name: 'mine' })
  t.teardown(async () => await app.close())
  t.match((await app.inject('/health')).json(), {
    status: 'healthy',
    live: true,
    ready: true,
    name: 'mine',
    version: String,
    uptime: Number,
    sessions: 0,
    peers: 0
  })
})
