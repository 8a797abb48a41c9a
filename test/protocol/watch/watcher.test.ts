import t from 'tap'
import type { Call } from '../../../protocol/dispatch/call.js'
import { EndedCalls } from '../../../protocol/watch/ended-calls.js'
import { Rates } from '../../../protocol/watch/statistics/rates.js'
import type { Tables } from '../../../protocol/watch/tables.js'
import { rowsOnce, Watcher } from '../../../protocol/watch/watcher.js'
import { revision } from '../../support/recorder.js'

t.test('a watcher for which no stream is free misses nothing of the first batch', async t => {
  const sent: string[] = []
  const channel = { streams: false }
  const call = {
    id: 1,
    channel,
    identity: { principal: undefined, scopes: 'all' },
    revision: revision('2025-11-25'),
    notifyTransient: (_method: string, json: string) => {
      if (channel.streams) sent.push(json)
    }
  } as unknown as Call
  const ended = new EndedCalls()
  const tables = { for: () => [['health', '{"status":"healthy"}']] } as unknown as Tables
  const news = { at: 1, ended, rates: new Rates(0), tables, rowsSince: rowsOnce(ended) }
  const watcher = new Watcher(
    call,
    { owner: { key: 'p1', lastCallAt: undefined, client: undefined }, only: undefined, onLost: () => {} },
    ended,
    '"gateway":{}'
  )
  watcher.send(news, 1_000)
  channel.streams = true
  watcher.send(news, 1_000)
  t.strictSame(
    sent.map(json => JSON.parse(json) as object),
    [{ requestId: 1, at: 1, gateway: {}, health: { status: 'healthy' } }]
  )
})
