import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Cancelled, type Question } from '../client/contract.js'
import { announce } from '../parts/announce.js'
import { CutText, ServerText } from '../parts/server-text.js'
import { client } from '../state/connection.js'
import { signIn } from '../state/servers.js'
import { UrlQuestion } from '../try/questions/url-question.js'

/**
 * A button that signs in to a server: the gateway says which page to open, and the person opens it. For all callers, or
 * for this one where each caller has its own sign-in. One that has begun goes on while the server is started with it.
 */
export function SignIn ({ alias, isNeeded }: { alias: string, isNeeded: boolean }) {
  const { isBusy, question, problem, begin, stop } = useSignIn(alias)
  if (!isNeeded && !isBusy.value) return null
  const asked = question.value
  return (
    <div class='stack'>
      {asked !== undefined && (
        <div class='question stack' role='group' aria-label={`Sign in to ${alias}`}>
          {typeof asked.params.message === 'string' && <p><CutText text={asked.params.message} /></p>}
          <UrlQuestion
            question={asked}
            answer={result => {
              question.value = undefined
              asked.answer(result)
            }}
          />
        </div>
      )}
      <div class='row'>
        {!isBusy.value && (
          <button type='button' class='primary' disabled={client.value === undefined} onClick={begin}>
            Sign in<span class='visually-hidden'> to {alias}</span>
          </button>
        )}
        {isBusy.value && asked === undefined && (
          <>
            <span class='small' role='status'>Waits until you have signed in.</span>
            <button type='button' onClick={stop}>Do not wait</button>
          </>
        )}
        <span role='status' class='error small'>
          {problem.value === '' ? null : <ServerText text={problem.value} />}
        </span>
      </div>
    </div>
  )
}

/** A sign-in to a server, as far as it is: what the gateway asks, and why it did not work. */
function useSignIn (alias: string) {
  const running = useRef<AbortController | undefined>(undefined)
  const isBusy = useSignal(false)
  const question = useSignal<Question | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => () => running.current?.abort(), [])
  const begin = async (): Promise<void> => {
    if (client.value === undefined || isBusy.value) return
    const own = running.current = new AbortController()
    isBusy.value = true
    problem.value = ''
    await signIn(client.value, alias, {
      signal: own.signal,
      onQuestion: asked => { question.value = asked },
      onQuestionGone: () => { question.value = undefined }
    }).then(
      () => announce(`Signed in to ${alias}`),
      (error: unknown) => {
        if (!(error instanceof Cancelled)) problem.value = error instanceof Error ? error.message : String(error)
      }
    )
    isBusy.value = false
    question.value = undefined
  }
  return {
    isBusy,
    question,
    problem,
    begin: () => { void begin() },
    stop: () => running.current?.abort()
  }
}
