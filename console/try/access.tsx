import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { mayWatch } from '../client/contract.js'
import { ServerText } from '../parts/server-text.js'
import { readAccess, toneOf, useInWords, whyInWords, type Access, type KeyAccess } from '../state/access.js'
import { client } from '../state/connection.js'
import type { Item } from '../state/lists.js'

/** Says who may call a tool, and why; read when it is opened. To callers that are no operators, of themselves. */
export function WhoMayCall ({ item: { key } }: { item: Item }) {
  const isOpen = useSignal(false)
  return (
    <details class='definition' onToggle={event => { isOpen.value = event.currentTarget.open }}>
      <summary>Who may call it</summary>
      {isOpen.value && <Found key={key} name={key} />}
    </details>
  )
}

function Found ({ name }: { name: string }) {
  const found = useSignal<Access | undefined>(undefined)
  const problem = useSignal('')
  const current = client.value
  useEffect(() => {
    let isEnded = false
    if (current !== undefined) {
      readAccess(current, name).then(
        access => {
          if (!isEnded) found.value = access
        },
        (error: unknown) => {
          if (!isEnded) problem.value = error instanceof Error ? error.message : String(error)
        }
      )
    }
    return () => { isEnded = true }
  }, [current, name])
  if (problem.value !== '') return <p class='error small'><ServerText text={problem.value} /></p>
  if (found.value === undefined) return <p class='quiet small'>Asking the gateway…</p>
  return <AccessTable access={found.value} isOperator={mayWatch(current)} />
}

function AccessTable ({ access: { own, scopes, keys, more }, isOperator }: { access: Access, isOperator: boolean }) {
  const why = whyInWords(own)
  return (
    <div class='stack access'>
      <p>
        The caller of this page <span class={`badge ${toneOf(own)}`}>{useInWords(own)}</span>
        {why !== '' && <span class='small quiet'> by <ServerText text={why} /></span>}
      </p>
      {isOperator && (
        <p class='small quiet'>
          {scopes.length === 0
            ? 'It needs no scope.'
            : <>It needs the scope <code><ServerText text={scopes.join(', ')} /></code>.</>}{' '}
          {keys.length === 0 && 'The options have no API keys; what holders of access tokens may do depends on their tokens.'}
        </p>
      )}
      {keys.length > 0 && (
        <ul class='access-keys' aria-label='API keys'>
          {keys.map((each, index) => <Key key={index} of={each} />)}
        </ul>
      )}
      {more > 0 && <p class='small quiet'>And {more.toLocaleString()} more keys.</p>}
    </div>
  )
}

function Key ({ of }: { of: KeyAccess }) {
  const why = whyInWords(of)
  return (
    <li>
      <strong><ServerText text={of.name} /></strong> <span class={`badge ${toneOf(of)}`}>{useInWords(of)}</span>
      <span class='small quiet'>
        {' '}scopes <ServerText text={of.scopes.join(', ')} />
        {of.view !== undefined && <>, view <ServerText text={of.view} /></>}
        {why !== '' && <>; by <ServerText text={why} /></>}
      </span>
    </li>
  )
}
