import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../app.js'
import type { Peer } from '../../protocol/peer/peer.js'

/** What became of a call; times are in milliseconds since 1970. */
export interface Seen { begun: number, ended?: number, how?: 'finished' | 'aborted' }

/** What the gateway reports of itself. */
export interface State { peers: number, sessions: number, connections: number, calls: Record<string, Seen> }

const Work = Type.Object({
  key: Type.String(),
  ms: Type.Integer({ minimum: 0 }),
  progress: Type.Optional(Type.Boolean()),
  answer: Type.Optional(Type.Integer({ minimum: 0 }))
})

/** What the chaos programs call in the gateway they harm, and how they learn what became of it. */
export default async function chaosTools (fastify: FastifyInstance): Promise<void> {
  const { mcp, mcp: { tools } } = fastify
  const calls = new Map<string, Seen>()
  const endless = new Map<string, { sent: number, stop: () => void }>()
  // The process that started this gateway may be killed before it can end it.
  setInterval(() => { if (String(process.ppid) !== process.env['CHAOS_PARENT']) process.exit(1) }, 1_000).unref()

  fastify.get('/chaos/state', async (request): Promise<State> => {
    const { prefix = '' } = request.query as { prefix?: string }
    const connections = await new Promise<number>((resolve, reject) =>
      fastify.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
    )
    return {
      peers: mcp.dispatcher.lifecycle.peers.size,
      sessions: fastify.mcp.sessions.size,
      connections,
      calls: Object.fromEntries([...calls].filter(([key]) => key.startsWith(prefix)))
    }
  })

  // How many numbers a call of chaos_until has sent, which sends no more.
  fastify.get('/chaos/stop', async request => {
    const call = endless.get((request.query as { key: string }).key)
    call?.stop()
    return call?.sent ?? 0
  })

  tools.add(tool({
    name: 'chaos_work',
    description: 'Takes its time, and remembers whether it was left alone',
    input: Work,
    run: async ({ key, ms, progress = false, answer = 0 }, call) => {
      const seen: Seen = { begun: Date.now() }
      calls.set(key, seen)
      if (progress) call.progress(1, 2, 'begun')
      await sleep(ms, undefined, { signal: call.signal }).catch(() => {})
      Object.assign(seen, { ended: Date.now(), how: call.signal.aborted ? 'aborted' : 'finished' })
      const { CHAOS_FILE: file } = process.env
      if (file !== undefined) appendFileSync(file, `${seen.how}\n`)
      return answer === 0 ? 'done' : 'x'.repeat(answer)
    }
  }))

  tools.add(tool({
    name: 'chaos_ask',
    description: 'Asks the user, and remembers whether it was left alone',
    input: Type.Object({ key: Type.String() }),
    run: async ({ key }, call) => {
      const seen: Seen = { begun: Date.now() }
      calls.set(key, seen)
      await call
        .elicit('name', { message: 'Who?', requestedSchema: { type: 'object', properties: {} } })
        .catch(() => {})
      Object.assign(seen, { ended: Date.now(), how: call.signal.aborted ? 'aborted' : 'finished' })
    }
  }))

  tools.add(tool({
    name: 'chaos_numbers',
    description: 'Tells numbers, either as its own progress or to the session it is called from',
    input: Type.Object({ count: Type.Integer(), perTurn: Type.Integer(), own: Type.Boolean() }),
    run: async ({ count, perTurn, own }, call) => {
      const sending = sendNumbers(call.peer, own ? number => call.progress(number, count) : undefined, count, perTurn)
      if (own) await sending
      return 'told'
    }
  }))

  tools.add(tool({
    name: 'chaos_until',
    description: 'Tells numbers until it is stopped, as its own progress and to the session it is called from',
    input: Type.Object({ key: Type.String() }),
    run: async ({ key }, call) => {
      const stop = new AbortController()
      const over = AbortSignal.any([stop.signal, call.signal])
      for (let number = 1; !over.aborted; number++) {
        call.progress(number)
        call.peer.notify('notifications/message', { level: 'alert', data: number })
        endless.set(key, { sent: number, stop: () => stop.abort() })
        await sleep(20, undefined, { signal: over }).catch(() => {})
      }
      return 'told'
    }
  }))

  tools.add(tool({
    name: 'chaos_block',
    description: 'Lets nobody else have a turn',
    input: Type.Object({ ms: Type.Integer() }),
    run: ({ ms }) => { for (const end = Date.now() + ms; Date.now() < end;); }
  }))

  tools.add(
    tool({
      name: 'chaos_change',
      description: 'Adds a tool or takes it away again',
      run: () => {
        if (!tools.remove('chaos_extra')) {
          tools.add(tool({ name: 'chaos_extra', description: 'Comes and goes', run: () => {} }))
        }
      }
    })
  )

  tools.add(tool({
    name: 'chaos_tell',
    description: 'Sends a message to everybody who is there',
    input: Type.Object({ text: Type.String(), times: Type.Optional(Type.Integer()) }),
    run: ({ text, times = 1 }) => {
      for (let time = 0; time < times; time++) {
        for (const peer of mcp.dispatcher.lifecycle.peers) {
          if (peer.revision !== undefined) peer.notify('notifications/message', { level: 'alert', data: text })
        }
      }
    }
  }))
}

async function sendNumbers (
  peer: Peer,
  progress: ((number: number) => void) | undefined,
  count: number,
  perTurn: number
): Promise<void> {
  for (let number = 1; number <= count; number++) {
    if (progress !== undefined) progress(number)
    else peer.notify('notifications/message', { level: 'alert', data: number })
    if (number % perTurn === 0) await sleep(5)
  }
}
