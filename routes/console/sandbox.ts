import { isSource } from '../../lib/origins.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Route } from '../paths.js'
import type { ConsoleFile } from './files.js'
import { otherOrigin, REVALIDATE, sendFile } from './serve.js'

/**
 * Serves the page in which the console shows apps, under a policy that is made from the domains of the query: those
 * that an app declared, by the members of its `csp`. It is for frames of the console under the other name of this
 * machine, so that it is on another origin than the console, and it is nowhere else.
 */
export function serveSandbox (file: ConsoleFile, headers: Readonly<Record<string, string>>): Route['handler'] {
  return async (request, reply) => {
    const ancestor = otherOrigin(request)
    if (ancestor === undefined) {
      reply.header('cache-control', 'no-store')
      throw httpErrors.notFound(request.method, '/console/sandbox.html')
    }
    const { 'x-frame-options': _, ...others } = headers
    const own = { ...others, 'content-security-policy': policyOf(request.query, ancestor) }
    return await sendFile(file, own, REVALIDATE, request, reply)
  }
}

/** Allows inline scripts and styles, which is what the page of an app consists of, and of hosts the declared ones. */
export function policyOf (query: unknown, ancestor: string): string {
  const [connect, resource, frame, base] = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains']
    .map(member => sourcesIn(query, member)) as [string[], string[], string[], string[]]
  const directives: Record<string, string[]> = {
    'default-src': [],
    'script-src': ["'unsafe-inline'", ...resource],
    'style-src': ["'unsafe-inline'", ...resource],
    'img-src': ['data:', ...resource],
    'font-src': resource,
    'media-src': ['data:', ...resource],
    'connect-src': connect,
    'frame-src': frame,
    'object-src': [],
    'base-uri': base,
    'form-action': [],
    'frame-ancestors': [ancestor]
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.length === 0 ? "'none'" : sources.join(' ')}`)
    .join('; ')
}

function sourcesIn (query: unknown, member: string): string[] {
  const value = isObject(query) ? query[member] : undefined
  return [value].flat().filter(isSource)
}
