import type { IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import type { Channel } from '../../protocol/wire/channel.js'
import { Tickets } from '../../system/credentials/tickets.js'
import type { Case } from './case.js'
import type { Plugin } from './gateway.js'
import { ATTACKS } from './principals/attacks.js'
import { CREDENTIALS, KEYS } from './principals/callers.js'
import { short } from './short.js'
import { waitLimits } from './waiting.js'

const ADA = 'key:ada'

/** A look at every request before the gateway has one. */
const onRequest =
  (look: (request: IncomingMessage) => void): Plugin =>
    async ({ server }) => {
      server.prependListener('request', look).prependListener('upgrade', look)
    }

const withKey = (request: IncomingMessage, key: string): void => {
  request.headers.authorization = `Bearer ${key}`
  request.rawHeaders = [
    ...request.rawHeaders.filter((_text, at, all) => (all[at - (at % 2)] ?? '').toLowerCase() !== 'authorization'),
    'Authorization',
    `Bearer ${key}`
  ]
}

/** Ways in which one caller learns of another, or comes in without a right. */
const BUGS: Record<string, { among: Case[], kinds: string[], bug: Plugin }> = {
  'a session that is not bound to its caller': {
    among: ATTACKS.visits,
    kinds: ['isolation'],
    bug: async ({ mcp: { sessions } }) => {
      const find = sessions.find.bind(sessions)
      sessions.find = id => find(id, ADA) ?? find(id, 'key:bob')
    }
  },
  'a note that is read for another': {
    among: ATTACKS.notes,
    kinds: ['isolation'],
    bug: async ({ mcp: { notes } }) => {
      const { get, newest, page } = notes
      Object.assign(notes, {
        get: async (_owner: string, id: string) => await get(ADA, id),
        newest: async (_owner: string, tags: string[], limit: number) => await newest(ADA, tags, limit),
        page: async (_owner: string, after: string | undefined, size: number) => await page(ADA, after, size)
      })
    }
  },
  'a change of a note that everybody hears of': {
    among: ATTACKS.notes,
    kinds: ['isolation'],
    bug: async ({ mcp: { resources } }) => {
      const { updated } = resources
      resources.updated = uri => updated(uri)
    }
  },
  'progress, logs and questions that go to the other caller, too': {
    among: ATTACKS.collisions,
    kinds: ['isolation'],
    bug: async ({ mcp }) => {
      const receive = mcp.dispatcher.receive.bind(mcp.dispatcher)
      const last = new Map<string | undefined, Channel>()
      mcp.dispatcher.receive = (incoming, peer, channel, ...rest) => {
        last.set(peer.principal, channel)
        const others = () => [...last].filter(([principal]) => principal !== peer.principal).map(([, other]) => other)
        const leaky = new Proxy(channel, {
          get: (target, name) => {
            if (name === 'emit') {
              return (...args: Parameters<Channel['emit']>) => {
                for (const to of [target, ...others()]) to.emit(...args)
              }
            }
            const value: unknown = Reflect.get(target, name, target)
            return typeof value === 'function' ? value.bind(target) as unknown : value
          }
        })
        receive(incoming, peer, leaky, ...rest)
      }
    }
  },
  'a cancellation that reaches the calls of others': {
    among: ATTACKS.collisions,
    kinds: ['unanswered'],
    bug: async ({ mcp }) => {
      const receive = mcp.dispatcher.receive.bind(mcp.dispatcher)
      mcp.dispatcher.receive = (incoming, peer, ...rest) => {
        const { method, params } = incoming as { method?: string, params?: { requestId?: string } }
        if (method === 'notifications/cancelled') {
          for (const other of mcp.dispatcher.lifecycle.peers) {
            other.inbound.get(params?.requestId ?? '')?.cancel(new Error('planted'))
          }
        }
        receive(incoming, peer, ...rest)
      }
    }
  },
  'a wrong key that is taken for a right one': {
    among: ATTACKS.credentials,
    kinds: ['access'],
    bug: onRequest(request => { if (request.headers.authorization === `Bearer ${CREDENTIALS.wrong_key?.(KEYS.ada)}`) withKey(request, KEYS.ada) })
  },
  'the first of two credentials that counts': {
    among: ATTACKS.credentials,
    kinds: ['access'],
    bug: onRequest(request => { if (request.rawHeaders.filter(name => name.toLowerCase() === 'authorization').length > 1) withKey(request, KEYS.ada) })
  },
  'a right key that is refused': {
    among: ATTACKS.credentials,
    kinds: ['access'],
    bug: onRequest(request => { if (/^bearer {2}/.test(request.headers.authorization ?? '')) withKey(request, 'pb_other') })
  },
  'a key in the log': {
    among: ATTACKS.credentials,
    kinds: ['secret'],
    bug: async ({ server, log }) => { server.prependListener('request', ({ headers }: IncomingMessage) => { if (headers['x-api-key'] !== undefined) log.debug({ key: headers['x-api-key'] }, 'who is that') }) }
  }
}

for (const [name, { among, kinds, bug }] of Object.entries(BUGS)) {
  t.test(`${name} is found with two principals`, async t => {
    const [found] = await findingsOf(t, among, bug)
    t.ok(found?.again === true && kinds.includes(found.fault.kind), JSON.stringify(found?.fault))
  })
}

t.test('a ticket that is good twice is found with two principals', async t => {
  const redeem = Tickets.prototype.redeem
  const known = new Map<string, unknown>()
  Tickets.prototype.redeem = function (ticket) {
    const holder = redeem.call(this, ticket) ?? known.get(ticket)
    known.set(ticket, holder)
    return holder
  }
  t.teardown(() => { Tickets.prototype.redeem = redeem })
  t.match(await findingsOf(t, ATTACKS.credentials, async () => {}), [
    { fault: { kind: 'access', text: /let in without a right credential/ }, again: true }
  ])
})

t.test('a cursor that works for every caller is found with two principals', async t => {
  const forAnyCaller: Plugin = async ({ mcp: { dispatcher: { sealer } } }) => {
    const { seal, open } = sealer
    const common = (purpose: string) => purpose.replace(/ key:\w+$/, '')
    Object.assign(sealer, {
      seal: (purpose: string, value: unknown) => seal.call(sealer, common(purpose), value),
      open: (purpose: string, text: string) => open.call(sealer, common(purpose), text)
    })
  }
  t.match(await findingsOf(t, ATTACKS.seals, forAnyCaller), [
    { fault: { kind: 'isolation', text: /sealed for another/ }, again: true }
  ])
})

async function findingsOf (t: Test, corpus: Case[], bug: Plugin) {
  const usual = waitLimits.small
  t.teardown(() => { waitLimits.small = usual })
  // That findings are made small is shown elsewhere.
  waitLimits.small = 1
  return (await short(t, 'principals', { count: 1, corpus, plugins: [bug] })).findings
}
