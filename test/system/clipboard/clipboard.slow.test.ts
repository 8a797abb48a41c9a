import t from 'tap'
import { Clipboard, MAX_TEXT } from '../../../system/clipboard/clipboard.js'
import { until } from '../../support/wait.js'
import { display, environment, noDisplay } from '../../support/environment/display.js'

t.test('a real clipboard', { skip: noDisplay }, async t => {
  const screen = await display(t)
  const clipboard = new Clipboard()

  t.test('before anything was copied it reads as an empty text', async t => t.equal(await clipboard.read(), ''))

  const TEXTS = {
    'an empty text': '',
    'line endings of all kinds': 'dos\r\nunix\nmac\rend',
    'newlines at the end': 'text\n\n',
    'only a newline': '\n',
    'a byte order mark': '\uFEFFtext\uFEFF',
    'emoji of several characters': '👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇮🇹 e\u0301',
    'other scripts': 'こんにちは 世界 שלום नमस्ते \u{10FFFF}',
    'control characters': '\u0001\u001B[31m\t\u007F\u0085\u2028',
    'the longest text': 'x'.repeat(MAX_TEXT),
    'the longest text, of emoji': '😀'.repeat(MAX_TEXT)
  }
  for (const [title, text] of Object.entries(TEXTS)) {
    t.test(`${title} comes back as it was`, async t => {
      // So that an empty text is not what was there anyhow.
      await clipboard.write('before')
      await clipboard.write(text)
      t.ok(await clipboard.read() === text)
    })
  }

  t.test('a text longer than that is not read', async t => {
    await clipboard.write(`${'x'.repeat(MAX_TEXT)}y`)
    await t.rejects(clipboard.read(), { name: 'ClipboardError', message: 'It holds more than 1048576 characters' })
  })

  t.test('an xsel that has no place for its log file fails with what it needs', async t => {
    t.teardown(environment({ DISPLAY: screen.name, XDG_CACHE_HOME: '/dev/null/none' }))
    await t.rejects(clipboard.write('text'), {
      name: 'ClipboardError',
      message: 'xsel cannot write its log file',
      hint: /XDG_CACHE_HOME/
    })
  })

  t.test('of many writes at once the last one stays', async t => {
    const writes = Array.from({ length: 50 }, async (_, index) => await clipboard.write(`text ${index}`))
    const read = clipboard.read()
    await Promise.all(writes)
    t.equal(await read, 'text 49')
  })

  t.test('a text that was written can be read at once', async t => {
    for (let count = 0; count < 15; count++) {
      await clipboard.write(`turn ${count}`)
      t.equal(await clipboard.read(), `turn ${count}`)
    }
  })

  t.test('a long text can be read again and again', async t => {
    const text = 'long '.repeat(2_000)
    await clipboard.write(text)
    for (let count = 0; count < 20; count++) t.ok(await clipboard.read() === text)
  })

  t.test('a text that another program copies is read, even at the same moment', async t => {
    await clipboard.write('ours')
    await new Clipboard().write('theirs')
    t.equal(await clipboard.read(), 'theirs')
  })

  t.test('an owner that does not answer costs one call its time, and no process stays behind', async t => {
    const owner = await stuck()
    await t.rejects(new Clipboard(300).read(), {
      name: 'ClipboardError',
      message: 'No answer within 300 ms',
      hint: /does not answer/
    })
    await until(() => screen.programs().every(pid => pid === owner))
    await clipboard.write('works again')
    process.kill(owner, 'SIGKILL')
    t.equal(await clipboard.read(), 'works again')
  })

  t.test('a cancelled call ends at once with its process; a cancelled one in the queue never runs', async t => {
    const owner = await stuck()
    const [reading, waiting] = [new AbortController(), new AbortController()]
    const read = clipboard.read(reading.signal)
    const never = clipboard.write('must not be written', waiting.signal)
    const next = clipboard.write('next')
    await until(() => screen.programs().length === 2)
    waiting.abort(new Error('never mind'))
    await t.rejects(never, { message: 'never mind' })
    reading.abort(new Error('enough'))
    await t.rejects(read, { message: 'enough' })
    await next
    process.kill(owner, 'SIGKILL')
    t.equal(await clipboard.read(), 'next')
  })

  /** Leaves the clipboard to a program that hangs. */
  async function stuck (): Promise<number> {
    await clipboard.write('stuck')
    await clipboard.read()
    await until(() => screen.programs().length === 1)
    return screen.freeze()
  }
})

t.test('without a display', { skip: process.platform !== 'linux' && 'a display is what Linux needs' }, async t => {
  t.test('the error names the missing display, and no program is started', async t => {
    // Without a PATH a program that were started would be missed instead.
    t.teardown(environment({ PATH: '' }))
    const clipboard = new Clipboard()
    t.match(clipboard.obstacle(), /^No display environment available\. .*Xvfb/)
    for (const call of bothWays(clipboard)) {
      await t.rejects(call, {
        name: 'ClipboardError',
        message: 'No display environment available',
        hint: /Xvfb.*DISPLAY/
      })
    }
  })

  t.test('a display that does not answer is reported as well', { skip: noDisplay }, async t => {
    t.teardown(environment({ DISPLAY: ':64999' }))
    const clipboard = new Clipboard()
    t.equal(clipboard.obstacle(), undefined)
    await t.rejects(clipboard.read(), {
      name: 'ClipboardError',
      message: 'No display environment available',
      hint: /does not answer/
    })
  })

  t.test('a missing xsel is reported, too', async t => {
    t.teardown(environment({ DISPLAY: ':64999', PATH: '' }))
    const clipboard = new Clipboard()
    for (const call of bothWays(clipboard)) {
      await t.rejects(call, { name: 'ClipboardError', message: 'xsel was not found', hint: /apt install xsel/ })
    }
  })
})

function bothWays (clipboard: Clipboard): Array<() => Promise<void>> {
  return [async () => { await clipboard.read() }, async () => await clipboard.write('text')]
}
