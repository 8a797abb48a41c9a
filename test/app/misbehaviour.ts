import type { FastifyInstance } from 'fastify'
import { prompt, resource, tool } from '../../app.js'

const SECRET = 'canary-in-an-error'

/** What a faulty handler may do: each harms its own call and nothing else. */
export const FAULTS: Record<string, () => unknown> = {
  'throws an error': () => {
    throw new Error(SECRET)
  },
  'throws text': () => {
    throw SECRET
  },
  'throws nothing': () => {
    throw undefined // eslint-disable-line no-throw-literal
  },
  'throws null': () => {
    throw null // eslint-disable-line no-throw-literal
  },
  'throws an error that cannot be looked at': () => {
    throw Object.defineProperties(new Error(SECRET), {
      name: { get: explode },
      message: { get: explode },
      stack: { get: explode }
    })
  },
  'throws what nobody can touch': () => {
    throw untouchable()
  },
  rejects: async () => {
    throw new Error(SECRET)
  },
  'rejects with nothing': async () => await Promise.reject(), // eslint-disable-line prefer-promise-reject-errors
  'returns a promise of somebody else that throws': () => ({ then: explode }),
  'never settles': async () => await new Promise(() => {}),
  'returns a cycle': () => {
    const cycle: { self?: object } = {}
    cycle.self = cycle
    return cycle
  },
  'returns a BigInt': () => 1n,
  'returns a BigInt inside': () => ({ value: 1n }),
  'returns a function': () => explode,
  'returns a symbol': () => Symbol(SECRET),
  'returns an object that cannot be read': () => ({
    get value () {
      return explode()
    }
  }),
  'returns an object that cannot be written': () => ({ toJSON: explode }),
  'returns what nobody can touch': untouchable,
  'returns a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'returns what is nested too deep': () => {
    let deep = {}
    for (let level = 0; level < 100_000; level++) deep = { deep }
    return deep
  },
  'needs more stack than there is': function again (): unknown {
    return again()
  }
}

/** Tools, resources, prompts and completions that do each of these, by name. */
export async function misbehaviour ({ mcp: { tools, resources, prompts } }: FastifyInstance): Promise<void> {
  for (const [what, run] of Object.entries(FAULTS)) {
    const name = nameOf(what)
    tools.add(tool({ name, description: 'd', run: run as () => object }))
    resources.add(resource({ uri: `bad://${name}`, name, read: run as () => object }))
    prompts.add(prompt({ name, get: run as () => string, arguments: { it: { complete: run as () => string[] } } }))
  }
}

export const nameOf = (what: string): string => what.replaceAll(' ', '_')

function untouchable (): object {
  return new Proxy(
    {},
    { get: explode, has: explode, ownKeys: explode, getPrototypeOf: explode, getOwnPropertyDescriptor: explode }
  )
}

function explode (): never {
  throw new Error(SECRET)
}
