import { useEffect } from 'preact/hooks'
import { isObject } from '../../client/contract.js'
import { announce } from '../../parts/announce.js'
import { CutText } from '../../parts/server-text.js'
import { ago } from '../../parts/words.js'
import { now } from '../../state/clock.js'
import { client } from '../../state/connection.js'
import type { Item } from '../../state/lists.js'
import { subscribe, subscriptions, unsubscribe, type Subscription } from '../../state/subscriptions.js'
import { makeCall, resourceCall } from '../actions.js'
import { CallsOf } from '../call/calls-of.js'
import { CopyButtons } from './copy-buttons.js'

/** Reads a resource, and hears of its changes. */
export function ResourceCall ({ item }: { item: Item }) {
  return (
    <>
      <div class='card row spread'>
        <div class='row'>
          <button
            type='button'
            class='primary'
            disabled={client.value === undefined}
            onClick={() => makeCall(resourceCall(item.key))}
          >
            Read
          </button>
          <SubscribeButton uri={item.key} />
        </div>
        <CopyButtons request={() => resourceCall(item.key)} />
      </div>
      <CallsOf kind='resource' name={item.key} />
    </>
  )
}

/** Begins or ends to hear of a resource, and says when it last changed. */
export function SubscribeButton ({ uri }: { uri: string }) {
  const current = client.value
  const own = subscriptions.value.get(uri)
  useEffect(() => {
    if (own?.changes !== undefined && own.changes > 0) announce('The resource has changed')
  }, [own?.changes])
  if (own !== undefined) {
    return (
      <>
        <button type='button' aria-pressed='true' onClick={() => unsubscribe(uri)}>
          Unsubscribe
        </button>
        <Heard own={own} />
      </>
    )
  }
  const declared = current?.server.capabilities.resources
  const can = isObject(declared) && declared.subscribe === true
  return (
    <button
      type='button'
      disabled={current === undefined || !can || uri === ''}
      onClick={() => {
        if (current !== undefined) void subscribe(current, uri)
      }}
    >
      Subscribe
    </button>
  )
}

function Heard ({ own: { state, error, changedAt, changes } }: { own: Subscription }) {
  if (state === 'failed') return <span class='error small'>Not subscribed: <CutText text={error ?? ''} /></span>
  if (changedAt === undefined) {
    return <span class='quiet small'>{state === 'starting' ? 'Subscribing…' : 'Subscribed; no change yet'}</span>
  }
  return <span class='badge good'>changed {ago(now.value - changedAt)}{changes > 1 ? `, ${changes} times` : ''}</span>
}
