import type { Test } from 'tap'
import type { Values } from '../../../protocol/store.js'
import { memoryStore } from '../../../stores/memory/store.js'
import { connect } from '../../../upstreams/connection/connection.js'
import type { ConnectionLog, OpenMcpConnection } from '../../../upstreams/ports.js'
import { EraMemory } from '../../../upstreams/connection/era-memory.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'
import { createEntry, type FakeUpstream } from '../../support/fake-upstream.js'
import { inTime } from '../../support/wait.js'

export interface Connecting {
  entry?: ServerEntry
  values?: Values
  eras?: EraMemory
  probeWait?: number
  maxQuestions?: number
  log?: ConnectionLog
  onReopen?: () => void
}

/** Connects to a fake server, as the process that has this memory of eras. */
export async function connectTo (t: Test, upstream: FakeUpstream, given: Connecting = {}): Promise<OpenMcpConnection> {
  const {
    entry = createEntry(),
    values = memoryStore().values,
    eras = new EraMemory(values, entry),
    probeWait = 20,
    maxQuestions = 8
  } = given
  const log = given.log ?? { debug: () => {}, warn: () => {} }
  const clientInfo = { name: 'gateway', version: '9' }
  const connecting = connect(
    {
      entry,
      dial: upstream.dial,
      clientInfo,
      eras,
      probeWait,
      maxQuestions,
      log,
      onReopen: given.onReopen ?? (() => {})
    },
    new AbortController().signal
  )
  // The timers of the gateway keep no process alive.
  const connection = await inTime(connecting, 'the connection')
  t.teardown(async () => await connection.close())
  return connection
}
