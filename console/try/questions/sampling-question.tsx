import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { isObject, type Json } from '../../client/contract.js'
import { LongText } from '../../results/content-block.js'
import type { QuestionProps } from './decline-and-cancel.js'
import { samplingAnswer, textOfContent } from './answers.js'

/** So many messages are drawn. */
const MAX_MESSAGES = 50

/** Shows what a model would be asked; a person writes the answer, or declines. */
export function SamplingQuestion ({ question: { params, refuse }, answer }: QuestionProps) {
  const id = useId()
  const typed = useSignal('')
  const { messages, systemPrompt, maxTokens } = params
  const all = Array.isArray(messages) ? messages : []
  const submit = (event: Event): void => {
    event.preventDefault()
    answer(samplingAnswer(typed.value), 'answered by hand')
  }
  return (
    <form class='stack' onSubmit={submit}>
      <ol class='stack'>
        {typeof systemPrompt === 'string' && <Said who='system prompt' text={systemPrompt} />}
        {all.slice(0, MAX_MESSAGES).map((message, index) => (
          <Said key={index} who={roleOf(message)} text={isObject(message) ? textOfContent(message.content) : ''} />
        ))}
      </ol>
      {all.length > MAX_MESSAGES && (
        <p class='small quiet'>
          {(all.length - MAX_MESSAGES).toLocaleString()} more messages are not shown here; the view Messages has all of
          them.
        </p>
      )}
      <label for={id}>Your answer, in place of a model</label>
      <textarea
        id={id}
        rows={4}
        required
        value={typed.value}
        onInput={event => {
          typed.value = event.currentTarget.value
        }}
      />
      {typeof maxTokens === 'number' && (
        <p class='small quiet'>The server wants at most {maxTokens.toLocaleString()} tokens.</p>
      )}
      <div class='row'>
        <button type='submit' class='primary'>
          Send the answer
        </button>
        <button type='button' onClick={() => refuse('the user declined to sample')}>
          Decline
        </button>
      </div>
    </form>
  )
}

const roleOf = (message: Json): string => isObject(message) && message.role === 'assistant' ? 'assistant' : 'user'

function Said ({ who, text }: { who: string, text: string }) {
  return <li><span class='quiet small'>{who}</span><LongText text={text} /></li>
}
