import type { FastifyInstance } from 'fastify'

/**
 * The paths a URL is served under: as it is, and with a slash at its end, which many clients are configured with. A host application
 * whose router ignores that slash has both in one.
 */
export function addresses ({ initialConfig }: FastifyInstance, url: string): string[] {
  const { ignoreTrailingSlash, routerOptions } = initialConfig
  return ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true ? [url] : [url, `${url}/`]
}
