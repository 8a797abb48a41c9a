/** The URL that the link of a result finally leads to; undefined if it is not http or https. */
export function targetOf (href: string, base: URL): URL | undefined {
  const link = resolve(href, base)
  const target = link !== undefined && isRedirecting(link, base) ? resolve(link.searchParams.get('uddg') ?? '') : link
  return target !== undefined && ['http:', 'https:'].includes(target.protocol) ? target : undefined
}

/** True for a link that counts a click on an advertisement, directly or behind the redirecting link. */
export function isAdvertising (href: string, base: URL): boolean {
  const target = targetOf(href, base)
  return target !== undefined && isOfService(target, base) && target.pathname === '/y.js'
}

const isRedirecting = (link: URL, base: URL): boolean => isOfService(link, base) && link.pathname === '/l/'
const isOfService = ({ hostname, host }: URL, base: URL): boolean => /^(.+\.)?duckduckgo\.com$/.test(hostname) || host === base.host

// An empty link would lead back to the page itself.
const resolve = (href: string, base?: URL): URL | undefined =>
  href.trim() !== '' && URL.canParse(href, base?.href) ? new URL(href, base) : undefined
