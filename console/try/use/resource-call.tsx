import { client } from '../../state/connection.js'
import type { Item } from '../../state/lists.js'
import { makeCall, resourceCall } from '../actions.js'
import { CallsOf } from '../call/calls-of.js'
import { CopyButtons } from './copy-buttons.js'
import { SubscribeButton } from './subscribe-button.js'

/** Reads a resource, and hears of its changes. */
export function ResourceCall ({ item }: { item: Item }) {
  return (
    <>
      <div class='card row spread'>
        <div class='row'>
          <button type='button' class='primary' disabled={client.value === undefined} onClick={() => makeCall(resourceCall(item.key))}>Read</button>
          <SubscribeButton uri={item.key} />
        </div>
        <CopyButtons request={() => resourceCall(item.key)} />
      </div>
      <CallsOf kind='resource' name={item.key} />
    </>
  )
}
