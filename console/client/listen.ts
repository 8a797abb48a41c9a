import { isObject, RpcError, type Handlers, type JsonObject } from './contract.js'
import { withMeta } from './legacy.js'
import type { Session } from './session.js'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'
const UPDATED = 'notifications/resources/updated'
const NOT_WATCHED = -32602

interface Wanted {
  resourceSubscriptions?: string[]
  toolsListChanged?: true
  promptsListChanged?: true
  resourcesListChanged?: true
}

type Listen = (wanted: Wanted, changed: () => void) => Promise<() => void>

/**
 * Opens a `subscriptions/listen`; settles when it is acknowledged, with how to end it. Changed lists go to the
 * listeners of the session.
 */
export function listener (session: Session, metaOf: (id: number, handlers: Handlers) => JsonObject): Listen {
  return async (wanted, changed) => {
    const controller = new AbortController()
    const handlers = { signal: controller.signal }
    let own: number | undefined
    const paramsOf = (id: number): JsonObject => {
      own = id
      return withMeta({ notifications: { ...wanted } }, metaOf(id, handlers))
    }
    await new Promise<void>((resolve, reject) => {
      const off = session.onNotification((method, params) => {
        if (own === undefined || subscriptionOf(params) !== own) return
        if (method === ACKNOWLEDGED) {
          isWatched(params, wanted) ? resolve() : reject(new RpcError(NOT_WATCHED, 'this resource cannot be watched'))
        } else if (method === UPDATED) changed()
      })
      session.send('subscriptions/listen', paramsOf, handlers)
        .then(() => reject(new RpcError(NOT_WATCHED, 'the gateway ended the subscription')), reject)
        .finally(off)
    }).catch(error => {
      controller.abort()
      throw error
    })
    return () => { controller.abort() }
  }
}

const subscriptionOf = ({ _meta }: JsonObject): unknown => isObject(_meta) ? _meta[SUBSCRIPTION] : undefined

/** The gateway leaves out of its acknowledgement what it cannot watch. */
function isWatched ({ notifications }: JsonObject, { resourceSubscriptions = [] }: Wanted): boolean {
  const granted = isObject(notifications) ? notifications.resourceSubscriptions : undefined
  return resourceSubscriptions.every(uri => Array.isArray(granted) && granted.includes(uri))
}
