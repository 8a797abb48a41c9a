import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import type { QuestionProps } from './decline-and-cancel.js'
import { rootsFrom } from './answers.js'

/** The folders that the server is told of; this page has none of its own. */
export function RootsQuestion ({ question: { refuse }, answer }: QuestionProps) {
  const id = useId()
  const typed = useSignal('')
  const wrong = useSignal('')
  const submit = (event: Event): void => {
    event.preventDefault()
    const { roots, wrong: bad } = rootsFrom(typed.value)
    wrong.value = bad.length === 0 ? '' : `Each line must begin with file:///, but this one does not: ${bad[0] ?? ''}`
    if (bad.length === 0) answer({ roots }, roots.length === 1 ? '1 folder' : `${roots.length} folders`)
  }
  return (
    <form class='stack' onSubmit={submit}>
      <label for={id}>Folders, one a line</label>
      <textarea
        id={id}
        class='code'
        rows={3}
        spellcheck={false}
        placeholder='file:///home/me/project'
        value={typed.value}
        aria-invalid={wrong.value !== ''}
        aria-describedby={`${id}-wrong`}
        onInput={event => {
          typed.value = event.currentTarget.value
        }}
      />
      <p id={`${id}-wrong`} class='error' role='alert'>
        {wrong.value}
      </p>
      <div class='row'>
        <button type='submit' class='primary'>
          Send the folders
        </button>
        <button type='button' onClick={() => refuse('the user declined to tell its folders')}>
          Decline
        </button>
      </div>
    </form>
  )
}
