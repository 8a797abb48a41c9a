import { setTimeout as sleep } from 'node:timers/promises'
import { queryObjects, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { prompt, resource, tool } from '../../app.js'
import { Call } from '../../protocol/dispatch/call.js'
import { encodeNotification } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'
import { Session } from '../../protocol/sessions/session.js'
import type { Vitals } from './vitals.js'

const Timer = setTimeout(() => {}, 0).constructor
const OBJECTS: Record<string, typeof Timer> = { Peer, Call, Session, Timer }

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** What the load programs call in the gateway they drive. */
export default async function loadTools (fastify: FastifyInstance): Promise<void> {
  for (const item of [echo, later, steps, ask, endless, ...crowd()]) fastify.mcp.tools.add(item)
  for (const item of [change(fastify), flood(fastify), vitals(fastify, memory(fastify)), objects]) {
    fastify.mcp.tools.add(item)
  }
  fastify.mcp.resources.add(resource({ uri: 'load://canary/{text}', name: 'canary', read: ({ text }) => text }))
  fastify.mcp.prompts.add(
    prompt({
      name: 'load_prompt',
      description: 'Says what it is told',
      arguments: { text: { required: true } },
      get: ({ text }) => text
    })
  )
}

const LOG = 'notifications/message'
/** In milliseconds: longer than any client waits. */
const ENDLESS = 300_000
const Text = Type.String({ maxLength: 200 })

const echo = tool({
  name: 'load_echo',
  description: 'Gives back what it was given',
  input: Type.Object({ text: Text }),
  run: ({ text }) => text
})

let lateCalls = 0

const later = tool({
  name: 'load_later',
  description: 'Gives back what it was given, later',
  input: Type.Object({ text: Text, ms: Type.Integer({ minimum: 0 }) }),
  run: async ({ text, ms }, call) => {
    lateCalls++
    await sleep(ms, undefined, { signal: call.signal })
    return text
  }
})

/** Calls that begin together. */
function crowd () {
  let begun = 0
  let release = () => {}
  const complete = new Promise<void>(resolve => { release = resolve })
  return [
    tool({
      name: 'load_together',
      description: 'Waits until so many have come, then for its own time, and gives back what it was given',
      input: Type.Object({ text: Text, crowd: Type.Integer({ minimum: 1 }), ms: Type.Integer({ minimum: 0 }) }),
      run: async ({ text, crowd, ms }, call) => {
        if (++begun >= crowd) release()
        await complete
        await sleep(ms, undefined, { signal: call.signal })
        return text
      }
    }),
    tool({ name: 'load_begun', description: 'How many have come', run: () => String(begun) })
  ]
}

const steps = tool({
  name: 'load_steps',
  description: 'Tells twice how far it is, then gives back what it was given',
  input: Type.Object({ text: Text }),
  run: async ({ text }, call) => {
    call.progress(1, 2, text)
    await new Promise(resolve => { setImmediate(resolve) })
    call.progress(2, 2, text)
    return text
  }
})

const ask = tool({
  name: 'load_ask',
  description: 'Asks its client, and gives back the answer',
  input: Type.Object({ text: Text }),
  run: async ({ text }, call) => {
    const { content } = await call.elicit('text', {
      message: text,
      requestedSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    })
    return String(content?.text)
  }
})

const endless = tool({
  name: 'load_endless',
  description: 'Tells that it has begun, and waits until it is cancelled',
  input: Type.Object({ text: Text }),
  run: async ({ text }, call) => {
    call.progress(1, 2, text)
    await sleep(ENDLESS, undefined, { signal: call.signal })
    return text
  }
})

const change = ({ mcp: { tools } }: FastifyInstance) => tool({
  name: 'load_change',
  description: 'Adds a tool, or removes it again',
  run: () => {
    if (!tools.remove('load_extra')) {
      tools.add(tool({ name: 'load_extra', description: 'Comes and goes', run: () => 'here' }))
    }
    return 'The list of tools changed.'
  }
})

const flood = ({ mcp }: FastifyInstance) => tool({
  name: 'load_flood',
  description: 'Sends a long log message to everybody',
  input: Type.Object({ bytes: Type.Integer({ minimum: 1 }) }),
  run: ({ bytes }) => {
    const text = encodeNotification(LOG, { level: 'info', data: 'x'.repeat(bytes) })
    for (const { revision, channel } of mcp.dispatcher.lifecycle.peers) {
      if (revision !== undefined) channel?.emit(text, LOG)
    }
  }
})

/** Every peer that was ever connected and is not yet collected as garbage. */
function memory ({ mcp }: FastifyInstance): Set<WeakRef<Peer>> {
  const known = new Set<WeakRef<Peer>>()
  const { lifecycle } = mcp.dispatcher
  const connect = lifecycle.connect.bind(lifecycle)
  lifecycle.connect = peer => { known.add(new WeakRef(peer)); connect(peer) }
  return known
}

const vitals = (fastify: FastifyInstance, known: Set<WeakRef<Peer>>) => tool({
  name: 'load_vitals',
  description: 'How the process is, after its garbage is collected',
  run: () => {
    collectGarbage()
    for (const peer of known) if (peer.deref() === undefined) known.delete(peer)
    const handles: Record<string, number> = {}
    for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1
    const { rss, heapUsed: heap } = process.memoryUsage()
    return {
      rss,
      heap,
      peers: fastify.mcp.dispatcher.lifecycle.peers.size,
      sessions: fastify.mcp.sessions.size,
      handles,
      lateCalls,
      alive: known.size
    } satisfies Omit<Vitals, 'files'>
  }
})

const objects = tool({
  name: 'load_objects',
  description: 'How many objects of a class are alive; finding out takes long',
  run: () => Object.fromEntries(Object.entries(OBJECTS).map(([name, kind]) => [name, Number(queryObjects(kind))]))
})
