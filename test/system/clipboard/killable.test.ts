import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { killable } from '../../../system/clipboard/killable.js'

const idle = () => spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })

t.test('programs of a work are killed when its signal aborts, and so are those it starts afterwards', async t => {
  const cancel = new AbortController()
  const ends: Array<Promise<unknown[]>> = []
  let finish = () => {}
  const finished = new Promise<void>(resolve => { finish = resolve })
  const work = killable(async () => {
    const first = idle()
    ends.push(once(first, 'exit'))
    await once(first, 'spawn')
    cancel.abort(new Error('enough'))
    await once(first, 'exit')
    ends.push(once(idle(), 'exit'))
    finish()
  }, cancel.signal)
  await t.rejects(work, { message: 'enough' })
  await finished
  t.strictSame(await Promise.all(ends), [[null, 'SIGKILL'], [null, 'SIGKILL']])
})

t.test('programs that others start meanwhile are left alone', async t => {
  const cancel = new AbortController()
  const other = idle()
  t.teardown(async () => { other.kill('SIGKILL'); await once(other, 'exit') })
  const work = killable(async () => await new Promise<never>(() => {}), cancel.signal)
  const later = idle()
  t.teardown(async () => { later.kill('SIGKILL'); await once(later, 'exit') })
  await Promise.all([once(other, 'spawn'), once(later, 'spawn')])
  cancel.abort(new Error('enough'))
  await t.rejects(work, { message: 'enough' })
  t.notOk(other.killed || later.killed)
})

t.test('nothing runs for a signal that has aborted', async t => {
  await t.rejects(
    killable(async () => t.fail('it ran'), AbortSignal.abort(new Error('too late'))),
    { message: 'too late' }
  )
})
