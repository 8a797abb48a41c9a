import { isLoopback } from '../lib/network.js'

interface Place { http: boolean, host: string }

/** True when the console is served. */
export const servesConsole = (
  { console: wanted, ...place }: Place & { console?: boolean | undefined },
  standalone = true
): boolean => isServed(wanted, place, standalone)

/** True when metrics are measured and served. */
export const servesMetrics = (
  { metrics, ...place }: Place & { metrics?: boolean | undefined },
  standalone = true
): boolean => isServed(metrics, place, standalone)

/**
 * As the option says, and without it only in a standalone gateway that other machines cannot reach directly: a host
 * application has pages of its own.
 */
function isServed (wanted: boolean | undefined, { http, host }: Place, standalone: boolean): boolean {
  return http && (wanted ?? (standalone && isLoopback(host)))
}
