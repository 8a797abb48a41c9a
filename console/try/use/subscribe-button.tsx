import { useEffect } from 'preact/hooks'
import { isObject } from '../../client/contract.js'
import { announce } from '../../parts/announce.js'
import { CutText } from '../../parts/text/cut-text.js'
import { ago } from '../../parts/time-words.js'
import { now } from '../../state/clock.js'
import { client } from '../../state/connection.js'
import { subscribe, subscriptions, unsubscribe, type Subscription } from '../../state/subscriptions.js'

/** Begins or ends to hear of a resource, and says when it last changed. */
export function SubscribeButton ({ uri }: { uri: string }) {
  const current = client.value
  const own = subscriptions.value.get(uri)
  useEffect(() => { if (own?.changes !== undefined && own.changes > 0) announce('The resource has changed') }, [own?.changes])
  if (own !== undefined) return <><button type='button' aria-pressed='true' onClick={() => unsubscribe(uri)}>Unsubscribe</button><Heard own={own} /></>
  const declared = current?.server.capabilities.resources
  const can = isObject(declared) && declared.subscribe === true
  return <button type='button' disabled={current === undefined || !can || uri === ''} onClick={() => { if (current !== undefined) void subscribe(current, uri) }}>Subscribe</button>
}

function Heard ({ own: { state, error, changedAt, changes } }: { own: Subscription }) {
  if (state === 'failed') return <span class='error small'>Not subscribed: <CutText text={error ?? ''} /></span>
  if (changedAt === undefined) return <span class='quiet small'>{state === 'starting' ? 'Subscribing…' : 'Subscribed; no change yet'}</span>
  return <span class='badge good'>changed {ago(now.value - changedAt)}{changes > 1 ? `, ${changes} times` : ''}</span>
}
