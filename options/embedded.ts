import type { Options } from '../options.js'

const LISTEN = 'pass it to app.listen()'
const STDIO = 'call serveStdio(app.mcp, …)'
const LOGGER = 'set the logger of your application'
const FASTIFY = 'pass it to Fastify()'
const HTTPS = 'pass its key and certificate to Fastify() as option https'
const CONNECTIONS = 'set app.server.maxConnections, or limit connections in your proxy'

/** The options that have no effect in a host application, with what to do instead. */
export const ELSEWHERE: Record<string, string> = {
  port: LISTEN,
  host: LISTEN,
  stdio: STDIO,
  token: STDIO,
  keepServing: STDIO,
  tls: HTTPS,
  logLevel: LOGGER,
  logFormat: LOGGER,
  trustProxy: FASTIFY,
  requestTimeout: FASTIFY,
  drainDelay: 'wait before you call app.close(), and let your own probe say that it is not ready',
  maxConnections: CONNECTIONS,
  maxConnectionsPerAddress: CONNECTIONS
}

/** A sentence for each given option that has no effect in a host application. */
export function ignoredOptions (given: { limits?: object }): string[] {
  return Object.keys({ ...given, ...given.limits })
    .filter(name => name in ELSEWHERE)
    .map(name => `option ${name} has no effect where Patchbay is registered in an application: ${ELSEWHERE[name]}`)
}

/** A sentence for each option that has no effect because of another one. */
export function overriddenOptions (options: Pick<Options, 'redis' | 'data' | 'ephemeral'>): string[] {
  const { redis, data, ephemeral } = options
  const all: string[] = []
  if (redis !== undefined && data !== undefined) {
    all.push(`option data has no effect with option redis: what is in ${data} is not used, and everything is stored in Redis`)
  }
  if (redis !== undefined && ephemeral) {
    all.push('option ephemeral has no effect with option redis: everything is stored in Redis')
  }
  return all
}
