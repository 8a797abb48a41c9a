import { createRequire, syncBuiltinESMExports } from 'node:module'

type Timers = Pick<typeof import('node:timers'), 'setTimeout' | 'setInterval'>
type Sleep = typeof import('node:timers/promises').setTimeout
interface Made { ms: number, keepsAwake: () => boolean, where: string }

const require = createRequire(import.meta.url)
const made = new Set<Made>()
let next = 1_000

/** The timeouts that are too short to keep the process awake for long, unless they are made again and again. */
let shortest = 0

/**
 * Remembers where timers are made from now on, so that one that keeps the process awake can be named: intervals,
 * timeouts of at least `least` ms, and after `rememberAllTimers` shorter ones, too.
 */
export function rememberTimers (least: number): void {
  shortest = least
  const timers = require('node:timers') as Timers
  const promises = require('node:timers/promises') as { setTimeout: Sleep }
  timers.setTimeout = globalThis.setTimeout = remembering(timers.setTimeout, ms => ms >= shortest)
  timers.setInterval = globalThis.setInterval = remembering(timers.setInterval, () => true)
  promises.setTimeout = rememberingSleep(promises.setTimeout)
  syncBuiltinESMExports()
}

/** From now on also timeouts that are made again and again. */
export function rememberAllTimers (): void {
  shortest = 0
}

/** Where the timers were made that keep the process awake now. */
export function timersAwake (): string[] {
  forget()
  return [...made].map(({ ms, where }) => `a timer of ${ms} ms, made by ${where}`)
}

function remembering<T extends typeof setTimeout | typeof setInterval> (
  original: T,
  counts: (ms: number) => boolean
): T {
  const set = (callback: () => void, ms?: number, ...rest: []): NodeJS.Timeout => {
    const timer = original(callback, ms, ...rest)
    if (counts(ms ?? 0)) remember(ms ?? 0, awake(new WeakRef(timer)), set)
    return timer
  }
  return Object.defineProperties(set, Object.getOwnPropertyDescriptors(original)) as T
}

function rememberingSleep (original: Sleep): Sleep {
  const sleep: Sleep = async (ms = 0, value, options) => {
    if (ms < shortest || options?.ref === false) return await original(ms, value, options)
    let over = false
    remember(ms, () => !over, sleep)
    try {
      return await original(ms, value, options)
    } finally {
      over = true
    }
  }
  return sleep
}

function awake (timer: WeakRef<NodeJS.Timeout & { _destroyed?: boolean }>): () => boolean {
  return () => {
    const live = timer.deref()
    return live !== undefined && live._destroyed !== true && live.hasRef()
  }
}

function remember (ms: number, keepsAwake: () => boolean, caller: (...args: never[]) => unknown): void {
  made.add({ ms, keepsAwake, where: callersOf(caller) })
  if (made.size > next) next = 2 * forget() + 1_000
}

// Text at once, because frames keep what they belong to from being collected; and no Error, because some tests count
// those that are made.
function callersOf (callee: (...args: never[]) => unknown): string {
  const { prepareStackTrace } = Error
  const trace = { stack: '' }
  Error.prepareStackTrace = (_error, frames) => frames.join(', ')
  try {
    Error.captureStackTrace(trace, callee)
    return trace.stack
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
}

function forget (): number {
  for (const timer of made) if (!timer.keepsAwake()) made.delete(timer)
  return made.size
}
