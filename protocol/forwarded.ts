import type { Channel, Headers } from './channel.js'

const NAMES = new Set(['forwarded', 'via', 'x-real-ip'])

/** True when a message on this channel came through a proxy, as the headers of its request or of its connection say. */
export function bringsForwarded ({ forwarded, headers }: Pick<Channel, 'forwarded' | 'headers'>): boolean {
  return forwarded === true || (headers !== undefined && isForwarded(headers))
}

/** True when a proxy has left its mark on a request: `Forwarded`, `Via`, `X-Real-IP` or any `X-Forwarded-*`. */
export function isForwarded (headers: Headers): boolean {
  for (const name in headers) if (NAMES.has(name) || name.startsWith('x-forwarded-')) return true
  return false
}
