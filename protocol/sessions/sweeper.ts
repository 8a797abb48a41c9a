import { ClockStep, now } from '../../lib/time.js'
import type { Session } from './session.js'
import type { StoredSessions } from './stored/stored-sessions.js'

/**
 * In milliseconds: how often the clocks are compared, and for how long after a step the store is not swept, for other
 * nodes to touch theirs.
 */
const CLOCK_CHECK = 1_000
const AFTER_CLOCK_STEP = 10 * 60_000
/** How often it is checked that the nodes live whose replies are read here, in milliseconds. */
const WRITER_CHECK = 1_000
/** How often it is checked that the homes of sessions live which are served here, in milliseconds. */
const HOME_CHECK = 3_000
/**
 * After how many of these checks each stream with a client is read again, where news of other nodes may have been lost
 * without notice.
 */
const CHECKS_PER_READ = 30

export interface SweeperOptions {
  sessions: () => Iterable<Session>
  stored: StoredSessions
  /** After how many milliseconds without a client a session ends. */
  sessionIdle: number
  end: (session: Session) => void
  save: (session: Session) => void
  /** Checks that the homes of the sessions live. */
  checkHomes: () => void
  /** Undefined where there are no other nodes. */
  isAlive: ((node: string) => Promise<boolean>) | undefined
  /** True where streams that other nodes write are read again now and then. */
  losesNews: boolean
  onTrouble: (error: unknown) => void
}

/** How often sessions are swept, in milliseconds. */
export const sweepInterval = (sessionIdle: number): number => Math.max(1_000, Math.min(sessionIdle / 4, 60_000))

/**
 * Ends idle sessions, saves what could not be saved before, and keeps the sessions in use from expiring in the store.
 */
export class SessionSweeper {
  readonly #options: SweeperOptions
  readonly #clockStep = new ClockStep()
  readonly #timers: NodeJS.Timeout[] = []
  #lastSweep = now()
  #storeSweepAllowedAt = -Infinity
  #checks = 0

  constructor (options: SweeperOptions) {
    this.#options = options
  }

  start (): void {
    const { sessionIdle, isAlive } = this.#options
    this.#timers.push(
      setInterval(() => this.sweep(), sweepInterval(sessionIdle)).unref(),
      setInterval(() => this.#checkClocks(), CLOCK_CHECK).unref()
    )
    if (isAlive === undefined) return
    this.#timers.push(
      setInterval(this.#options.checkHomes, HOME_CHECK).unref(),
      setInterval(() => this.#checkStreams(isAlive), WRITER_CHECK).unref()
    )
  }

  stop (): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
  }

  sweep (): void {
    const { sessions, stored, sessionIdle, end, save, onTrouble } = this.#options
    const at = now()
    for (const session of sessions()) {
      const { peer } = session
      if (session.isBusy) session.lastSeen = at
      else if (session.lastSeen < at - sessionIdle) end(session)
      if (peer.hasUnsavedChanges && peer.initialized && !peer.closed) save(session)
    }
    const used = [...sessions()].filter(({ lastSeen }) => lastSeen >= this.#lastSweep)
    this.#lastSweep = at
    stored.touch(used).then(async () => {
      this.#checkClocks()
      if (now() >= this.#storeSweepAllowedAt) await stored.sweep()
    }).catch(onTrouble)
  }

  // A part of the sessions is read again each time, so that not all are read at once.
  #checkStreams (isAlive: (node: string) => Promise<boolean>): void {
    const part = ++this.#checks % CHECKS_PER_READ
    let place = 0
    const writers = new Set<string>()
    for (const session of this.#options.sessions()) {
      for (const writer of session.writers) writers.add(writer)
      if (this.#options.losesNews && place++ % CHECKS_PER_READ === part) session.catchUp()
    }
    for (const writer of writers) void this.#checkWriter(writer, isAlive)
  }

  async #checkWriter (writer: string, isAlive: (node: string) => Promise<boolean>): Promise<void> {
    // A store that fails says so where it is used.
    if (await isAlive(writer).catch(() => true)) return
    for (const session of this.#options.sessions()) if (session.writers.includes(writer)) void session.finishForeign()
  }

  // The store keeps expiries as wall-clock times, so they are written again when the wall clock was set.
  #checkClocks (): void {
    if (!this.#clockStep.happened()) return
    const { sessions, stored, onTrouble } = this.#options
    this.#storeSweepAllowedAt = now() + AFTER_CLOCK_STEP
    stored.touch([...sessions()]).catch(onTrouble)
  }
}
