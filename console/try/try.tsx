import { Boundary } from '../parts/boundary.js'
import { Dialog } from '../parts/dialog.js'
import { CutText, ServerText } from '../parts/server-text.js'
import { client } from '../state/connection.js'
import { redactSecrets } from '../state/redact.js'
import { route } from '../state/route.js'
import { callNow, itemOf, unconfirmed } from './actions.js'
import { Costs } from './costs.js'
import { Lists } from './lists.js'
import { Opened } from './opened.js'

/** Shows what the server offers on one side, and the thing that is opened on the other. */
export function Try () {
  const current = route.value
  if (current.view !== 'try') return null
  const { kind = 'tool', name } = current
  return (
    <div class={name === undefined ? 'try' : 'try has-opened'}>
      {name === undefined && <h1 class='visually-hidden'>Try</h1>}
      <Lists kind={kind} opened={name} />
      <div class='opened'>
        {name === undefined
          ? (
            <Nothing />
            )
          : (
            <Boundary key={`${kind} ${name}`}>
              <Opened kind={kind} name={name} />
            </Boundary>
            )}
      </div>
    </div>
  )
}

/** Shows the server's instructions, while nothing is opened. */
function Nothing () {
  const server = client.value?.server
  return (
    <div class='card stack nothing'>
      <p class='quiet'>Choose something in the list to see what it does, and to try it.</p>
      <Costs />
      {server?.instructions !== undefined && (
        <section class='stack'>
          <h2>Instructions of the server</h2>
          <CutText block text={server.instructions} />
        </section>
      )}
    </div>
  )
}

/** Asks before a call that destroys something. Escape and Enter do nothing to the server. */
export function Confirm () {
  const request = unconfirmed.value
  if (request === undefined) return null
  const { arguments: shown = {} } = redactSecrets(request.params, request.inputSchema)
  const dismiss = (): void => { unconfirmed.value = undefined }
  return (
    <Dialog
      title={
        <>
          Call <ServerText text={itemOf(request)?.title ?? request.key} />?
        </>
      }
      onClose={dismiss}
    >
      <p>
        The tool{' '}
        <code>
          <ServerText text={request.key} />
        </code>{' '}
        says that it destroys something. It will be called with:
      </p>
      <ServerText block text={JSON.stringify(shown, null, 2)} />
      <div class='row'>
        <button type='button' autofocus onClick={dismiss}>
          Do not call
        </button>
        <button type='button' class='danger' onClick={() => callNow(request)}>
          Call it
        </button>
      </div>
    </Dialog>
  )
}
