import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Store } from '../../protocol/store.js'

declare module './mcp.js' {
  interface Mcp {
    /** Compares the options of this node with those of the others; only there where nodes share a Redis. */
    nodeOptions: {
      /**
       * Publishes the fingerprints of the options of this node, by their names, in place of the former ones. Never
       * rejects.
       */
      publish: (fingerprints: Readonly<Record<string, string>>) => Promise<void>
    }
  }
}

const SPACE = 'node options'
const MAX_NODES = 1_000
/**
 * In milliseconds: how often they are published again, for how long they count after that, and how soon a change of
 * another node is looked at.
 */
const PUBLISH_EVERY = 30_000
const LIFETIME = 90_000
const COMPARE_AFTER = 100
/** How many nodes a sentence names. */
const MAX_NAMED = 3

/**
 * Warns in the log, and `report`s, while nodes on one Redis have different options. The gateway stays ready, and does
 * not wait for the `first` fingerprints. Imports nothing that other plugins import, which would be one more file for
 * every start.
 */
export default function provideNodeOptions (
  fastify: FastifyInstance,
  report: (why: string | undefined) => void,
  first: () => Promise<Record<string, string>>
): void {
  const { mcp, log } = fastify
  const comparison = new OptionsComparison(mcp.store, log, report)
  mcp.provide('nodeOptions', { publish: async fingerprints => await comparison.publish(fingerprints) })
  // Replies do not name their node; the log of a node, and its /health, do.
  fastify.addHook('onReady', async () => {
    log.info({ node: mcp.store.nodes.self }, `this is node ${mcp.store.nodes.self}`)
    first()
      .then(async all => await comparison.publish(all))
      .catch((error: unknown) =>
        log.warn({ err: error }, 'the options of this node cannot be compared with those of others')
      )
  })
  fastify.addHook('onClose', async () => await comparison.close())
}

class OptionsComparison {
  readonly #store: Pick<Store, 'values' | 'nodes'>
  readonly #log: FastifyBaseLogger
  readonly #report: (why: string | undefined) => void
  readonly #offChange: () => void
  #own: Readonly<Record<string, string>> | undefined
  #warned: string | undefined
  #publishing: NodeJS.Timeout | undefined
  #comparing: NodeJS.Timeout | undefined
  #closed = false

  constructor (store: Pick<Store, 'values' | 'nodes'>, log: FastifyBaseLogger, report: (why: string | undefined) => void) {
    this.#store = store
    this.#log = log
    this.#report = report
    this.#offChange = store.values.onChange(space => { if (space === SPACE) this.#compareSoon() })
  }

  async publish (fingerprints: Readonly<Record<string, string>>): Promise<void> {
    if (this.#closed) return
    this.#own = fingerprints
    this.#publishing ??= setInterval(() => { void this.#renew() }, PUBLISH_EVERY).unref()
    await this.#renew()
  }

  async close (): Promise<void> {
    this.#closed = true
    clearInterval(this.#publishing)
    clearTimeout(this.#comparing)
    this.#offChange()
    if (this.#own !== undefined) await this.#store.values.delete(SPACE, this.#self).catch(() => {})
  }

  get #self (): string {
    return this.#store.nodes.self ?? ''
  }

  // While Redis is away, what is known stays as it is; /health says so anyway.
  async #renew (): Promise<void> {
    try {
      await this.#store.values.put(SPACE, this.#self, this.#own, { expires: Date.now() + LIFETIME, max: MAX_NODES })
      await this.#compare()
    } catch {}
  }

  #compareSoon (): void {
    this.#comparing ??= setTimeout(() => {
      this.#comparing = undefined
      this.#compare().catch(() => {})
    }, COMPARE_AFTER).unref()
  }

  async #compare (): Promise<void> {
    const own = this.#own
    if (own === undefined) return
    const names = new Set<string>()
    const nodes: string[] = []
    for (const { key: node, value } of await this.#store.values.list(SPACE)) {
      const theirs = Object(value) as Readonly<Record<string, unknown>>
      // A node of another version has other options.
      const different =
        node === this.#self ? [] : Object.keys(own).filter(name => name in theirs && theirs[name] !== own[name])
      if (different.length === 0 || !await this.#store.nodes.isAlive(node)) continue
      nodes.push(node)
      for (const name of different) names.add(name)
    }
    this.#reportChange(nodes.length === 0 ? undefined : sentenceOf([...names].sort(), nodes.sort()))
  }

  #reportChange (sentence: string | undefined): void {
    if (sentence === this.#warned) return
    this.#warned = sentence
    this.#report(sentence)
    if (sentence === undefined) this.#log.info('the options of all nodes are equal again')
    else this.#log.warn(sentence)
  }
}

function sentenceOf (names: string[], nodes: string[]): string {
  const more = nodes.length > MAX_NAMED ? ` and ${nodes.length - MAX_NAMED} more` : ''
  const which = `node${nodes.length === 1 ? '' : 's'} ${nodes.slice(0, MAX_NAMED).join(', ')}${more}`
  return `options differ between nodes: ${names.join(', ')} here and at ${which}; give all nodes the same options`
}
