import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { until, within } from '../support/wait.js'
import { names, read, serving, tree, uriOf } from '../support/environment/tree.js'

const SWAP = fileURLToPath(new URL('../../../test/resources/swap.mjs', import.meta.url))
const READS = 3_000
const TIME = 1_500

/** Another process that puts a link to the secrets where the folder is, and the folder back, all the time. */
async function swapping (t: Test, folder: string, secrets: string): Promise<() => Promise<number>> {
  const child = spawn(process.execPath, [SWAP, folder, secrets], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  t.teardown(async () => { child.kill('SIGKILL'); await closed })
  let output = ''
  child.stdout.on('data', chunk => { output += String(chunk) })
  await within(60_000, async signal => await once(child.stdout, 'data', { signal }))
  return async () => {
    child.stdin.end()
    await within(60_000, async signal => await once(child, 'close', { signal }))
    return Number(output.trim().split('\n').at(-1))
  }
}

/** Runs until it was done often enough or long enough, eight at a time. */
async function often (once: () => Promise<string>): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>()
  const end = Date.now() + TIME
  let left = READS
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left-- > 0 && Date.now() < end) {
      const outcome = await once()
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }))
  return outcomes
}

async function exposed (t: Test) {
  const base = await tree(t, {
    'root/shared/key.txt': 'INSIDE',
    'secrets/key.txt': 'FOREIGN',
    'secrets/other.txt': 'FOREIGN'
  })
  const root = join(base, 'root')
  const { client } = await serving(t, [root])
  return { base, root, client, stop: await swapping(t, join(root, 'shared'), join(base, 'secrets')) }
}

t.test('a folder that becomes a link while a file in it is read gives no foreign byte away', async t => {
  const { root, client, stop } = await exposed(t)
  const uri = uriOf(root, 'shared', 'key.txt')
  // A program that does not look reads it, sooner or later.
  await until(async () => await readFile(join(root, 'shared', 'key.txt'), 'utf8').catch(() => 'absent') === 'FOREIGN')
  const outcomes = await often(
    async () =>
      await read(client, uri).then(
        ({ text }) => String(text),
        ({ code }: { code: number }) => String(code)
      )
  )
  t.ok(await stop() > 100, 'there was something to be caught by')
  t.comment(Object.fromEntries(outcomes))
  t.ok(outcomes.get('INSIDE'), 'some are read')
  t.strictSame(
    [...outcomes.keys()].filter(outcome => outcome !== '-32002'),
    ['INSIDE'],
    'the others look as if they were not there'
  )
})

t.test('a folder that becomes a link while it is listed gives no foreign name away', async t => {
  const { client, stop } = await exposed(t)
  const outcomes = await often(async () => (await names(client)).join())
  t.ok(await stop() > 100)
  t.comment(Object.fromEntries(outcomes))
  t.ok(outcomes.get('shared/key.txt'))
  t.notOk([...outcomes.keys()].some(outcome => outcome.includes('other')))
})
