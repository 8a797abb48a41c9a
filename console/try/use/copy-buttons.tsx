import type { JsonObject } from '../../client/contract.js'
import { loginKind } from '../../login/credential.js'
import { CopyButton } from '../../parts/buttons.js'
import { era } from '../../state/connection.js'
import { chosenView } from '../../state/gateway-views.js'
import { redactSecrets } from '../../state/redact.js'
import type { CallRequest } from '../../state/calls.js'
import { itemOf } from '../actions.js'
import { asClientConfig, asCurl, asJsonRpc } from './copies.js'

/** Copies a call for use elsewhere. `request` is undefined while what was typed cannot be sent. */
export function CopyButtons ({ request }: { request: () => CallRequest | undefined }) {
  const url = new URL('../mcp', location.href)
  url.hash = ''
  const needsKey = loginKind.value !== 'open'
  const write =
    (how: (method: string, params: JsonObject, inputSchema: JsonObject[string] | undefined) => string) =>
      (): string => {
        const made = request()
        if (made === undefined) return ''
        const { inputSchema } = itemOf(made)?.raw ?? {}
        return how(made.method, redactSecrets(made.params, inputSchema), inputSchema)
      }
  return (
    <details class='copies'>
      <summary>Copy as</summary>
      <div class='row'>
        <CopyButton
          label='curl'
          text={write((method, params, inputSchema) =>
            asCurl(method, params, { era: era.value, url: url.href, view: chosenView.value, needsKey, inputSchema })
          )}
        />
        <CopyButton label='JSON-RPC' text={write((method, params) => asJsonRpc(era.value, method, params))} />
        <CopyButton label='Client configuration' text={() => asClientConfig(url.href, needsKey, chosenView.value)} />
      </div>
    </details>
  )
}
