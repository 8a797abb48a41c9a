import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { didYouMean } from '../../lib/nearest-name.js'
import { now } from '../../lib/time.js'
import { errors } from '../../protocol/wire/errors.js'
import { ADMIN_SCOPE } from '../../protocol/wire/identity.js'
import type { Mcp } from '../core/mcp.js'

/** To callers without the scope, the methods do not exist. */
const FOR_OPERATORS = { scopes: [ADMIN_SCOPE], hidden: true }

/** How long a server that was started by hand is left alone, in milliseconds. */
const PAUSE = 2_000

const Named = Type.Object({ server: Type.String({ maxLength: 256 }) })

type Upstream = NonNullable<ReturnType<Mcp['upstreams']['get']>>

/**
 * Lets operators use a configured upstream server: `patchbay/servers/start` starts one that does not run,
 * `patchbay/servers/log` reads what it wrote last to standard error, and `patchbay/servers/sign-in` asks the operator
 * to sign in to it. None changes the configuration, ends a server or names a program.
 */
export default fp(async ({ mcp }) => {
  const { upstreams } = mcp
  const startedAt = new WeakMap<Upstream, number>()

  mcp.method('patchbay/servers/start', Named, async ({ server }) => {
    const upstream = find(upstreams, server)
    checkStopped(server, upstream.status.state)
    const left = (startedAt.get(upstream) ?? -Infinity) + PAUSE - now()
    if (left > 0) {
      throw errors.invalidParams(
        `the server "${server}" was started by hand a moment ago; try again in ${Math.ceil(left / 1_000)} s`
      )
    }
    startedAt.set(upstream, now())
    upstream.retry()
    return {}
  }, FOR_OPERATORS)

  mcp.method(
    'patchbay/servers/log',
    Named,
    async ({ server }) => ({ lines: [...find(upstreams, server).recentLines()] }),
    FOR_OPERATORS
  )

  mcp.method(
    'patchbay/servers/sign-in',
    Named,
    async ({ server }, call) => await upstreams.signIn(call, find(upstreams, server)),
    FOR_OPERATORS
  )
}, { name: 'patchbay-servers', dependencies: ['patchbay-mcp', 'patchbay-upstreams'] })

function find (upstreams: Mcp['upstreams'], server: string): Upstream {
  const upstream = upstreams.get(server)
  if (upstream !== undefined) return upstream
  const wrong = upstreams.leftOut().find(({ alias }) => alias === server)
  if (wrong !== undefined) {
    throw errors.invalidParams(
      `the server "${server}" is left out: ${wrong.mistakes.map(({ text }) => text).join('; ')}. Mend the configuration and reload it`
    )
  }
  const names = [...upstreams.status(), ...upstreams.leftOut()].map(({ alias }) => alias)
  throw errors.invalidParams(
    `no upstream server has the name "${server}"${names.length === 0 ? '; none is configured' : didYouMean(server, names)}`
  )
}

function checkStopped (server: string, state: string): void {
  if (state === 'disabled') {
    throw errors.invalidParams(
      `the server "${server}" is disabled in the configuration; remove "disabled" there to start it`
    )
  }
  if (state === 'ready') throw errors.invalidParams(`the server "${server}" runs already`)
  if (state === 'starting') throw errors.invalidParams(`the server "${server}" is being started already`)
}
