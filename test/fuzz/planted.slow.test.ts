import t from 'tap'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Incoming } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'
import type { Plugin } from './gateway.js'
import { hurry, short } from './short.js'

type Planted = (incoming: Incoming, channel: Channel, peer: Peer) => Channel
const planted = (bug: Planted): Plugin => async ({ mcp }) => {
  const receive = mcp.dispatcher.receive.bind(mcp.dispatcher)
  mcp.dispatcher.receive = (incoming, peer, channel, ...rest) =>
    receive(incoming, peer, bug(incoming, channel, peer), ...rest)
}

/** Most good requests have another id. */
const isRare = (incoming: Incoming): boolean =>
  incoming.kind === 'request' && typeof incoming.id === 'number' && incoming.id !== 7
/** A channel that passes everything on, but for what is changed. */
const over = (channel: Channel, changed: Partial<Channel>): Channel => ({
  streams: channel.streams,
  respond: (...answer) => channel.respond(...answer),
  emit: (...args) => channel.emit(...args),
  end: () => channel.end(),
  ...changed
})
const altered = (channel: Channel, alter: (text: string) => string): Channel =>
  over(channel, { respond: (text, ...rest) => channel.respond(alter(text), ...rest) })

/** Bugs of all kinds that only some messages bring about. */
const BUGS: Record<string, { kind: string, bug: Planted }> = {
  'an answer that is forgotten': {
    kind: 'unanswered',
    bug: (incoming, channel) => (isRare(incoming) ? over(channel, { respond: () => {}, end: () => {} }) : channel)
  },
  'an answer that is sent twice': {
    kind: 'unasked',
    bug: (incoming, channel) =>
      isRare(incoming)
        ? over(channel, {
          respond: (...answer) => {
            channel.respond(...answer)
            channel.respond(...answer)
          }
        })
        : channel
  },
  'an answer to somebody else': {
    kind: 'unanswered',
    bug: (incoming, channel) =>
      isRare(incoming) ? altered(channel, text => text.replace(/"id":-?\d+/, '"id":"x"')) : channel
  },
  'an answer that is no JSON-RPC': {
    kind: 'invalid',
    bug: (incoming, channel) =>
      isRare(incoming) ? altered(channel, text => text.replace('"jsonrpc":"2.0"', '"jsonrpc":"2"')) : channel
  },
  'the text of an error that is not ours': {
    kind: 'leak',
    bug: (incoming, channel) =>
      isRare(incoming)
        ? altered(channel, text => text.replace(/"message":"/, '"message":"Cannot read properties of undefined '))
        : channel
  },
  'a prototype that is changed': {
    kind: 'prototype',
    bug: (incoming, channel) => {
      if (isRare(incoming)) {
        Reflect.defineProperty(Object.getPrototypeOf({}) as object, 'planted', { value: 1, configurable: true })
      }
      return channel
    }
  }
}

for (const [name, { kind, bug }] of Object.entries(BUGS)) {
  t.test(`${name} is found and made small`, async t => {
    hurry(t)
    const { findings } = await short(t, 'dispatcher', { count: 500, plugins: [planted(bug)] })
    const [found] = findings
    t.match(found, { fault: { kind }, again: true }, 'a finding that can be had again')
    t.equal(found?.input.steps.length, 1, 'one message is enough')
    t.match(found?.input.steps[0]?.bytes.toString(), /"id":(?!7\b)-?\d+/, 'it still has what brings the bug about')
    t.ok(
      (found?.input.steps[0]?.bytes.length ?? Infinity) < 60,
      `and little else: ${String(found?.input.steps[0]?.bytes)}`
    )
  })
}

t.test('a leaked peer is found when all clients have left', async t => {
  const leaky = planted((incoming, channel, peer) => {
    if (isRare(incoming)) leak?.(new Peer({ transport: peer.transport }))
    return channel
  })
  hurry(t)
  let leak: ((peer: Peer) => void) | undefined
  const { findings } = await short(t, 'stdio', {
    count: 300,
    plugins: [
      leaky,
      async ({ mcp }) => {
        leak = peer => mcp.dispatcher.lifecycle.connect(peer)
      }
    ]
  })
  t.match(findings, [{ fault: { kind: 'leak', text: /"peers":0.*"peers":\d/ } }])
})

for (const name of ['http', 'websocket', 'stdio'] as const) {
  t.test(`${name}: an answer that is forgotten is found over the wire`, async t => {
    hurry(t, 200)
    const { findings } = await short(t, name, {
      count: 200,
      plugins: [planted(BUGS['an answer that is forgotten']?.bug as Planted)]
    })
    t.ok(
      findings.some(({ fault: { kind }, again }) => again && (kind === 'unanswered' || kind === 'hang')),
      JSON.stringify(findings.map(({ fault }) => fault))
    )
  })
}

for (const [name, perMessage, found] of [
  ['memory that is kept of each message is found', 200_000, 1],
  ['memory that is kept once is none of it', 0, 0]
] as const) {
  t.test(name, async t => {
    const kept: Buffer[] = []
    let once = false
    const keep = planted((_, channel) => {
      if (perMessage > 0) kept.push(Buffer.alloc(perMessage))
      // After the first look at the memory, which comes when four tenths are sent.
      else if (!once && ++received > 400) once = kept.push(Buffer.alloc(50_000_000)) > 0
      return channel
    })
    let received = 0
    const { findings, grown } = await short(t, 'dispatcher', { count: 500, plugins: [keep] })
    t.equal(findings.length, found, JSON.stringify({ findings: findings.map(({ fault }) => fault), grown }))
    if (found > 0) t.match(findings, [{ fault: { kind: 'leak', text: /MB more are in use than before, again/ } }])
  })
}
