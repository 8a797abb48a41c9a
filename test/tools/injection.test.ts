import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { createClient, type Client } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { scripts } from '../support/environment/scripts.js'
import { payloads } from './payloads.js'

interface Answer { isError?: boolean, content: [{ text: string }], structuredContent?: { stdout: string } }

/** Prints each argument unchanged, with a NUL behind. */
const SHOW = 'for arg in "$@"; do printf \'%s\\0\' "$arg"; done'
const NARROW = ['-la?', '/tmp(/(?!\\.\\.?(/|$))[\\w.-]+)*']
/** In plain letters: some of them are lines of their own to readers of the results. */
const named = (payload: string): string =>
  JSON.stringify(payload).replace(/[^ -~]/g, letter => `\\u${letter.charCodeAt(0).toString(16)}`)
const impossible = /\0|\p{Surrogate}/u

async function attacked (t: Test) {
  const folder = await scripts(t, { show: SHOW })
  const program = join(folder, 'show')
  const canary = join(folder, 'canary')
  const app = await gateway(t, {
    http: false,
    commands: { narrow: { program, args: NARROW, folder }, wide: { program, args: ['[^]*'], folder } }
  })
  const client = await createClient(app)
  return { folder, canary, client, all: payloads(canary) }
}

const execute = async ({ request }: Client, command: string, args: string[]): Promise<Answer> =>
  await request('tools/call', { name: 'execute_command', arguments: { command, args } }) as unknown as Answer

t.test('there are enough payloads, and a shell falls for them', async t => {
  const { canary, all, folder } = await attacked(t)
  t.ok(new Set(all).size >= 60 && new Set(all).size === all.length, `${all.length} payloads`)
  const dangerous = all.filter(
    payload => !payload.includes('\0') && /^(;touch|\| |&& |\$\(touch |`|> |\n|"\$\()/.test(payload)
  )
  t.ok(dangerous.length >= 7)
  for (const payload of dangerous) {
    await promisify(execFile)('/bin/sh', ['-c', `true ${payload}`], { cwd: folder }).catch(() => {})
    t.ok(existsSync(canary), named(payload))
    await rm(canary)
  }
})

t.test('narrow patterns let none of them through', async t => {
  const { client, all, folder } = await attacked(t)
  t.match(
    await execute(client, 'narrow', ['-la', '/tmp', '/tmp/a/.b..c']),
    { content: [{ text: '-la\0/tmp\0/tmp/a/.b..c\0' }] },
    'what is meant to pass passes'
  )
  for (const payload of all) {
    const { isError, content, structuredContent } = await execute(client, 'narrow', ['-l', payload])
    t.strictSame([isError, structuredContent], [true, undefined], named(payload))
    t.match(content[0].text, /^argument 2 of narrow, .* is not allowed; allowed are /)
  }
  t.strictSame(readdirSync(folder), ['show'], 'nothing was created')
})

t.test('where anything is allowed, the program sees it literally', async t => {
  const { client, all, folder } = await attacked(t)
  for (const payload of all) {
    const { isError, content, structuredContent } = await execute(client, 'wide', ['before', payload, 'after'])
    if (impossible.test(payload)) {
      t.match([isError, content[0].text], [true, /^argument 2 of wide, .* is not allowed/], named(payload))
    } else t.equal(structuredContent?.stdout, `before\0${payload}\0after\0`, named(payload))
  }
  t.strictSame(readdirSync(folder), ['show'], 'nothing was created')
})

t.test('none of them is the name of a command', async t => {
  const { client, all, folder } = await attacked(t)
  for (const payload of [...all, ...all.map(payload => `wide${payload === '' ? ' ' : payload}`)]) {
    t.match(
      await execute(client, payload, []),
      { isError: true, content: [{ text: /is not allowed; allowed are narrow, wide$/ }] },
      named(payload)
    )
  }
  t.strictSame(readdirSync(folder), ['show'], 'nothing was created')
})
