import { Dialog } from '../parts/dialog.js'
import { ServerText } from '../parts/server-text.js'
import { redactSecrets } from '../state/redact.js'
import { callNow, itemOf, unconfirmed } from './actions.js'

/** Asks before a call that destroys something. Escape and Enter do nothing to the server. */
export function Confirm () {
  const request = unconfirmed.value
  if (request === undefined) return null
  const { arguments: shown = {} } = redactSecrets(request.params, request.inputSchema)
  const dismiss = (): void => { unconfirmed.value = undefined }
  return (
    <Dialog title={<>Call <ServerText text={itemOf(request)?.title ?? request.key} />?</>} onClose={dismiss}>
      <p>The tool <code><ServerText text={request.key} /></code> says that it destroys something. It will be called with:</p>
      <ServerText block text={JSON.stringify(shown, null, 2)} />
      <div class='row'>
        <button type='button' autofocus onClick={dismiss}>Do not call</button>
        <button type='button' class='danger' onClick={() => callNow(request)}>Call it</button>
      </div>
    </Dialog>
  )
}
