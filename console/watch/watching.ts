import { Cancelled, type Client } from '../client/contract.js'
import { WATCH, WATCH_BATCH, type WatchBatch } from '../client/watch-batch.js'
import type { Feed } from './feed.js'

interface WatchListener {
  /** The feed has something new. */
  changed: () => void
  /** The gateway has ended the watch, or refused it: why. Not called after the returned function was. */
  ended: (why: string) => void
}

/** Asks the gateway for what happens in it and gives that to the feed. Returns how to end it. */
export function watch (client: Client, feed: Feed, { changed, ended }: WatchListener): () => void {
  const stop = new AbortController()
  const off = client.onNotification((method, params) => {
    if (method === WATCH_BATCH && feed.take(params as unknown as WatchBatch)) changed()
  })
  const tell = (why: string): void => { if (!stop.signal.aborted) ended(why) }
  void client
    .request(WATCH, {}, { signal: stop.signal })
    .then(
      () => tell('The gateway ended the watch: it is shutting down, or you may not watch any more.'),
      error => {
        if (!(error instanceof Cancelled)) tell(wordsOf(error))
      }
    )
    .finally(off)
  return () => {
    off()
    stop.abort()
  }
}

/** Runs `work` in the next frame, once for all calls before it. Returns also how to forget what was asked for. */
export function oncePerFrame (
  work: () => void,
  ask: (run: () => void) => number,
  forget: (asked: number) => void
): { ask: () => void, forget: () => void } {
  let asked: number | undefined
  return {
    ask: () => {
      asked ??= ask(() => {
        asked = undefined
        work()
      })
    },
    forget: () => {
      if (asked !== undefined) forget(asked)
      asked = undefined
    }
  }
}

const wordsOf = (error: unknown): string => error instanceof Error ? error.message : String(error)
