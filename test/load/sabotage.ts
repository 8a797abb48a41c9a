import type { FastifyInstance } from 'fastify'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Peer } from '../../protocol/peer/peer.js'

/** One answer in so many goes wrong. */
const EVERY = 10

const kept: Peer[] = []
let last = ''

type Fault = (text: string, answer: (text: string) => void) => void

const lose: Fault = () => {}
const double: Fault = (text, answer) => { answer(text); answer(text) }
const misroute: Fault = (text, answer) => { answer(last === '' ? text : underIdOf(text, last)) }

/** What goes wrong with answers, in turn. */
const FAULTS = [double, misroute, double, misroute, lose]

/**
 * Faults that a gateway must never have, as a plugin: it spoils answers, or keeps clients in memory, as the environment
 * sets. The load programs have to notice.
 */
export default async function sabotage ({ mcp }: FastifyInstance): Promise<void> {
  const leaks = process.env['LOAD_SABOTAGE'] === 'memory'
  const receive = mcp.dispatcher.receive.bind(mcp.dispatcher)
  let count = 0
  mcp.dispatcher.receive = (incoming, peer, channel) => {
    const hit =
      incoming.kind === 'request' && JSON.stringify(incoming.params).includes('canary-') && ++count % EVERY === 0
    if (hit && leaks) kept.push(peer)
    const fault = hit && !leaks ? FAULTS[count / EVERY % FAULTS.length] : undefined
    receive(incoming, peer, spoiled(channel, fault ?? remember))
  }
}

const remember: Fault = (text, answer) => {
  if (text.includes('canary-')) last = text
  answer(text)
}

function spoiled (channel: Channel, spoil: Fault): Channel {
  const respond: Channel['respond'] = (text, ...rest) => spoil(text, changed => channel.respond(changed, ...rest))
  return new Proxy(channel, {
    get: (target, name) => {
      const member: unknown = name === 'respond' ? respond : Reflect.get(target, name, target)
      return typeof member === 'function' && member !== respond ? (member as () => void).bind(target) : member
    }
  })
}

/** The answer of another client, to this question. */
function underIdOf (text: string, other: string): string {
  const { id } = JSON.parse(text) as { id: number }
  return JSON.stringify({ ...JSON.parse(other) as object, id })
}
