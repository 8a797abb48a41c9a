import t from 'tap'
import { Deadlines, type DeadlineEntry, type TimedCall } from '../../../protocol/dispatch/deadlines.js'
import type { McpError } from '../../../protocol/wire/errors.js'
import { LIMITS } from '../../../protocol/wire/limits.js'

interface Timer { at: number, run: () => void, unref: () => Timer }

/** A call as far as its deadline is concerned. */
class Work implements TimedCall {
  readonly startedAt = performance.now()
  readonly #timeUp: (elapsed: string) => void
  readonly deadline: DeadlineEntry

  constructor (deadlines: Deadlines, timeUp: (elapsed: string) => void) {
    this.#timeUp = timeUp
    this.deadline = deadlines.add(this)
  }

  giveUp ({ message }: McpError): void {
    this.stop()
    this.#timeUp(/\d+/.exec(message)?.[0] ?? '')
  }

  extend (): void {
    this.deadline.extend()
  }

  hold (): void {
    this.deadline.hold()
  }

  release (): void {
    this.deadline.release()
  }

  stop (): void {
    this.deadline.stop()
  }
}

interface Clock {
  /** Timers that wait. */
  timers: ReadonlySet<Timer>
  /** Whose time was up, and after how long. */
  expired: string[]
  /** Errors that giving up threw. */
  thrown: unknown[]
  begin: (name: string, timeUp?: () => void) => Work
  /** Lets the time pass, timer by timer. */
  pass: (ms: number) => void
}

/** Work with deadlines on a clock that it turns itself. All others have theirs back when it returns. */
function turning (limits: { callTimeout: number, callTimeoutMax: number }, work: (clock: Clock) => void): void {
  const { setTimeout, clearTimeout } = globalThis
  const timers = new Set<Timer>()
  let now = 0
  const wait = (run: () => void, ms: number): Timer => {
    const timer = { at: now + ms, run, unref: () => timer }
    timers.add(timer)
    return timer
  }
  Object.assign(globalThis, { setTimeout: wait, clearTimeout: (timer: Timer) => { timers.delete(timer) } })
  Object.defineProperty(performance, 'now', { value: () => now, configurable: true })
  const thrown: unknown[] = []
  const deadlines = new Deadlines({ ...LIMITS, ...limits }, error => { thrown.push(error) })
  const expired: string[] = []
  try {
    work({
      timers,
      expired,
      thrown,
      begin: (name, timeUp = () => {}) => {
        return new Work(deadlines, elapsed => { expired.push(`${name} after ${elapsed}`); timeUp() })
      },
      pass: ms => {
        const until = now + ms
        for (;;) {
          const [due] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
          if (due === undefined) break
          timers.delete(due)
          now = due.at
          due.run()
        }
        now = until
      }
    })
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    delete (performance as { now?: unknown }).now
  }
}

const USUAL = { callTimeout: 100, callTimeoutMax: 1_000 }
const NAMES = ['a', 'b', 'c', 'd', 'e']
const after = (ms: number, ...names: string[]): string[] => names.map(name => `${name} after ${ms}`)

t.test('time is up for all in the order they began', async t => {
  turning(USUAL, ({ begin, pass, expired, timers }) => {
    for (const name of NAMES) begin(name)
    pass(99)
    t.strictSame(expired, [])
    pass(1)
    t.strictSame(expired, after(100, ...NAMES))
    pass(10_000)
    t.equal(expired.length, NAMES.length, 'for each of them once')
    t.equal(timers.size, 0)
  })
})

t.test('a call that cannot be given up keeps no other from it, and is given up once', async t => {
  turning(USUAL, ({ begin, pass, expired, timers, thrown }) => {
    begin('a')
    begin('b', () => { throw new Error('b') })
    begin('c')
    pass(100)
    t.strictSame(expired, after(100, 'a', 'b', 'c'))
    t.match(thrown, [{ message: 'b' }])
    t.equal(timers.size, 0)
    begin('d')
    pass(100)
    t.strictSame(expired, after(100, 'a', 'b', 'c', 'd'))
  })
})

t.test('a deadline that is removed, first, last or between, does not fire, and all others do', async t => {
  // Every choice of some of them, ended in both directions.
  for (let choice = 0; choice < 2 ** NAMES.length; choice++) {
    for (const turned of [false, true]) {
      turning(USUAL, ({ begin, pass, expired }) => {
        const running = new Map(NAMES.map(name => [name, begin(name)]))
        const ended = NAMES.filter((_, index) => (choice >> index) % 2 === 1)
        for (const name of turned ? ended.toReversed() : ended) running.get(name)?.stop()
        begin('late')
        pass(200)
        t.strictSame(
          expired,
          after(100, ...NAMES.filter(name => !ended.includes(name)), 'late'),
          `without ${ended.join('')}`
        )
      })
    }
  }
})

t.test('removing a deadline twice removes no other', async t => {
  for (const twice of NAMES) {
    turning(USUAL, ({ begin, pass, expired }) => {
      const running = new Map(NAMES.map(name => [name, begin(name)]))
      running.get(twice)?.stop()
      running.get(twice)?.stop()
      begin('late')
      running.get(twice)?.stop()
      pass(200)
      t.strictSame(expired, after(100, ...NAMES.filter(name => name !== twice), 'late'), twice)
    })
  }
})

t.test('a removed deadline keeps no reference to others', async t => {
  turning(USUAL, ({ begin, pass }) => {
    const running = NAMES.map(name => begin(name))
    for (const index of [2, 0, 4]) running[index]?.stop()
    pass(100)
    for (const [
      index,
      {
        deadline: { older, newer }
      }
    ] of running.entries()) { t.strictSame([older, newer], [undefined, undefined], `the one at ${index}`) }
  })
})

t.test('an earlier deadline is waited for with the same timer', async t => {
  turning(USUAL, ({ begin, pass, expired, timers }) => {
    begin('held').hold()
    pass(100)
    t.strictSame([...timers].map(({ at }) => at), [1_000])
    begin('soon')
    t.strictSame([...timers].map(({ at }) => at), [200])
    pass(900)
    t.strictSame(expired, [...after(100, 'soon'), ...after(1_000, 'held')])
  })
})

t.test('thousands that come and go leave those that stay', async t => {
  turning(USUAL, ({ begin, pass, expired, timers }) => {
    const window: Work[] = []
    let most = 0
    for (let index = 0; index < 5_000; index++) {
      if (index % 1_000 === 500) begin(`stays ${index}`)
      else window.push(begin('passes'))
      if (window.length > 10) window.splice(index % 10, 1)[0]?.stop()
      most = Math.max(most, timers.size)
    }
    t.equal(most, 1, 'one timer for all')
    for (const deadline of window) deadline.stop()
    pass(100)
    t.strictSame(expired, after(100, 'stays 500', 'stays 1500', 'stays 2500', 'stays 3500', 'stays 4500'))
    t.equal(timers.size, 0)
  })
})

t.test('a deadline that fires may remove others that are due: they do not fire', async t => {
  for (const first of NAMES) {
    turning(USUAL, ({ begin, pass, expired }) => {
      const running: Work[] = []
      for (const name of NAMES) {
        running.push(
          begin(name, () => {
            if (name === first) for (const deadline of running) deadline.stop()
          })
        )
      }
      pass(500)
      t.strictSame(expired, after(100, ...NAMES.slice(0, NAMES.indexOf(first) + 1)), `all end with ${first}`)
    })
  }
})

t.test('activity on a removed deadline does not bring it back', async t => {
  turning({ callTimeout: 100, callTimeoutMax: 100 }, ({ begin, pass, expired }) => {
    begin('a', () => { b.stop(); b.extend(); b.hold(); b.release() })
    const b = begin('b')
    pass(500)
    t.strictSame(expired, after(100, 'a'))
  })
})

t.test('the end of one may begin others, which have their own time', async t => {
  turning(USUAL, ({ begin, pass, expired, timers }) => {
    begin('a', () => { begin('again'); t.equal(timers.size, 1) })
    begin('b')
    pass(100)
    t.strictSame(expired, after(100, 'a', 'b'))
    t.equal(timers.size, 1)
    pass(100)
    t.strictSame(expired, after(100, 'a', 'b', 'again'))
  })
})

t.test('the end of one may be a sign of life for another', async t => {
  turning(USUAL, ({ begin, pass, expired }) => {
    begin('a', () => { b.extend() })
    const b = begin('b')
    pass(199)
    t.strictSame(expired, after(100, 'a'))
    pass(1)
    t.strictSame(expired, [...after(100, 'a'), ...after(200, 'b')])
  })
})

t.test('a sign of life moves one deadline, up to the hard limit, and no other', async t => {
  turning({ callTimeout: 100, callTimeoutMax: 250 }, ({ begin, pass, expired, timers }) => {
    const [a] = [begin('a'), begin('b'), begin('c')]
    for (let step = 0; step < 5; step++) {
      pass(60)
      a.extend()
      t.ok(timers.size <= 1)
    }
    t.strictSame(expired, [...after(100, 'b', 'c'), ...after(250, 'a')])
  })
})

t.test('a held deadline waits for the hard limit until all holds are released', async t => {
  turning(USUAL, ({ begin, pass, expired }) => {
    const [released, held] = [begin('released'), begin('held')]
    for (const deadline of [released, held]) {
      deadline.hold()
      deadline.hold()
    }
    pass(300)
    released.release()
    released.extend()
    held.release()
    pass(300)
    t.strictSame(expired, [], 'one still holds each')
    released.release()
    pass(99)
    t.strictSame(expired, [])
    pass(1)
    t.strictSame(expired, after(700, 'released'))
    pass(300)
    t.strictSame(expired, [...after(700, 'released'), ...after(1_000, 'held')])
  })
})

t.test('a removed deadline never fires, whatever is done with it afterwards', async t => {
  turning(USUAL, ({ begin, pass, expired, timers }) => {
    const [over, expires] = [begin('over'), begin('expires')]
    over.stop()
    pass(100)
    t.equal(timers.size, 0)
    for (const deadline of [over, expires]) {
      deadline.extend()
      deadline.hold()
      deadline.release()
      deadline.stop()
    }
    t.equal(timers.size, 0, 'nothing is waited for')
    pass(5_000)
    t.strictSame(expired, after(100, 'expires'))
    t.equal(timers.size, 0)
  })
})

t.test('a time that no timer can wait for is waited for in parts', async t => {
  const long = 2 ** 31 + 1_000
  turning({ callTimeout: long, callTimeoutMax: long }, ({ begin, pass, expired, timers }) => {
    begin('patient')
    t.equal([...timers][0]?.at, 2 ** 31 - 1)
    pass(long - 1)
    t.strictSame(expired, [])
    pass(1)
    t.strictSame(expired, after(long, 'patient'))
  })
})

t.test('a call that waits for an upstream may have a timeout of its own, within callTimeoutMax', async t => {
  turning(USUAL, ({ begin, pass, expired }) => {
    begin('usual')
    begin('shorter').deadline.waitFor('files', 50)
    begin('longer').deadline.waitFor('files', 300)
    begin('too long').deadline.waitFor('files', 5_000)
    begin('the same').deadline.waitFor('files', undefined)
    const extended = begin('extended')
    extended.deadline.waitFor('files', 300)
    pass(200)
    extended.extend()
    pass(1_000)
    t.strictSame(expired, [
      'shorter after 50',
      'usual after 100',
      'the same after 100',
      'longer after 300',
      'extended after 500',
      'too long after 1000'
    ])
  })
})
