/**
 * Escapes a URL that cannot be decoded: Fastify would answer it without any hook, and so it is an unknown URL like
 * others.
 */
export function routable (url: string): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split(/[?#;]/, 1)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return url.replaceAll('%', '%25')
  }
}
