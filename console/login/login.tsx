import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { LinkText } from '../parts/server-text.js'
import { logInWithOAuth, need, oauth, useKey, wasUsed, type Need } from './credential.js'
import { isHeaderText } from './ticket.js'

const WORDS: Record<Need['reason'], string> = {
  missing: 'This gateway wants to know who you are.',
  refused: 'The gateway did not accept that:',
  expired: 'Your login has ended; what you typed is still there. The gateway says:',
  failed: 'The login did not work:'
}

interface LoginProps {
  /** Forgets the credential and everything that this page saw with it. */
  forgetAll: () => void
}

/** Asks for a credential while `need` says so. */
export function Login ({ forgetAll }: LoginProps) {
  const why = need.value
  return why === undefined ? null : <LoginForm why={why} forgetAll={forgetAll} />
}

function LoginForm ({ why, forgetAll }: LoginProps & { why: Need }) {
  const place = useRef<HTMLElement>(null)
  // The element that had the focus is not shown any more: the view, or the button that forgets.
  useEffect(() => { place.current?.querySelector<HTMLElement>('button, input')?.focus() }, [why])
  return (
    <section class='login card' aria-labelledby='login-heading' ref={place}>
      <h1 id='login-heading'>Log in</h1>
      <p role='status' class={why.reason === 'missing' ? 'quiet' : 'login-problem'}>
        {why.why ?? WORDS[why.reason]} {why.detail !== undefined && <LinkText url={why.detail} />}
      </p>
      {oauth.value !== undefined && <OAuthLogin />}
      <KeyLogin />
      {wasUsed.value && <Forget forgetAll={forgetAll} />}
    </section>
  )
}

/** Offers to forget the traces of a login, which stay for the same person to go on; another one must not see them. */
function Forget ({ forgetAll }: LoginProps) {
  return (
    <div class='login-way'>
      <p class='quiet small'>This page still has what was typed, called and received.</p>
      <button type='button' onClick={forgetAll}>Forget everything</button>
    </div>
  )
}

function OAuthLogin () {
  const scopes = useSignal('')
  const leaving = useSignal(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const asked = scopes.value.split(/\s+/).filter(scope => scope !== '')
    leaving.value = true
    await logInWithOAuth(asked.length === 0 ? undefined : asked)
    leaving.value = false
  }
  return (
    <form
      class='login-way'
      onSubmit={event => {
        void submit(event)
      }}
    >
      <button type='submit' class='primary' disabled={leaving}>
        {leaving.value ? 'Going there' : 'Log in with OAuth'}
      </button>
      <details>
        <summary>Ask for other rights</summary>
        <label class='login-field'>
          Scopes{' '}
          <input
            type='text'
            name='scopes'
            autocomplete='off'
            spellcheck={false}
            placeholder='mcp admin'
            value={scopes}
            onInput={event => {
              scopes.value = event.currentTarget.value
            }}
          />
        </label>
      </details>
    </form>
  )
}

const WRONG_KEY =
  'A key has only letters, digits and signs of ASCII; this one has another character, perhaps a typographic quote or a space.'

function KeyLogin () {
  const id = useId()
  const wrong = useSignal(false)
  const typed = useSignal('')
  const keep = useSignal(false)
  const submit = (event: Event): void => {
    event.preventDefault()
    const key = typed.value.trim()
    wrong.value = key !== '' && !isHeaderText(key)
    if (key === '' || wrong.value) return
    typed.value = ''
    useKey(key, keep.value)
  }
  return (
    <form class='login-way' onSubmit={submit}>
      <label class='login-field'>
        API key{' '}
        <input
          type='password'
          name='key'
          autocomplete='off'
          spellcheck={false}
          required
          value={typed}
          aria-invalid={wrong}
          aria-describedby={id}
          onInput={event => {
            typed.value = event.currentTarget.value
            wrong.value = false
          }}
        />
      </label>
      <p id={id} class='error small' role='alert'>
        {wrong.value ? WRONG_KEY : ''}
      </p>
      <p class='quiet small'>
        You get one from those who run the gateway: a key that they make with <code>patchbay key NAME</code>, or, where
        the gateway is part of another application, a token that this one accepts.
      </p>
      <label class='login-keep'>
        <input
          type='checkbox'
          name='keep'
          checked={keep}
          onChange={event => {
            keep.value = event.currentTarget.checked
          }}
        />{' '}
        Keep it for this tab
      </label>
      <button type='submit' class={oauth.value === undefined ? 'primary' : ''}>
        Log in with this key
      </button>
    </form>
  )
}
