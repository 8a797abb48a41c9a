import { logOut } from '../login/credential.js'
import { announce } from '../parts/announce.js'
import { forgetProposals } from '../state/approvals.js'
import { forgetCalls } from '../state/calls.js'
import type { Reconnector } from '../state/connection.js'
import { forgetDrafts } from '../state/drafts.js'
import { forgetViews } from '../state/gateway-views.js'
import { clearLists } from '../state/lists.js'
import type { MessageLog } from '../state/messages.js'
import { forgetSubscriptions } from '../state/subscriptions.js'
import { unconfirmed } from '../try/actions.js'

/** Closes the connection and forgets what the caller saw and typed. */
export function leave (connection: Reconnector, log: MessageLog): void {
  connection.stop()
  clearLists()
  forgetViews()
  forgetProposals()
  forgetCalls()
  forgetDrafts()
  forgetSubscriptions()
  unconfirmed.value = undefined
  log.clear()
  logOut()
  // It stands in the live region in place of what was said last.
  announce('Everything was forgotten')
}
