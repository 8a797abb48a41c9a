import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import { announce } from '../../parts/announce.js'
import { beginningOf } from '../../parts/text.js'
import { CutText, ServerText } from '../../parts/server-text.js'
import { Time } from '../../parts/time.js'
import { answerQuestion, type Answered, type Call } from '../../state/calls.js'
import type { QuestionProps } from './decline-and-cancel.js'
import { FormQuestion } from './form-question.js'
import { RootsQuestion } from './roots-question.js'
import { SamplingQuestion } from './sampling-question.js'
import { UrlQuestion } from './url-question.js'

const HEADINGS: Record<Question['method'], string> = {
  'elicitation/create': 'The server asks you',
  'sampling/createMessage': 'The server asks for a model’s answer',
  'roots/list': 'The server asks which folders you work in'
}

/** So many characters of a question are spoken; the rest is read. */
const MAX_SPOKEN = 500

/** Something that the server asks, beside the call that it belongs to. */
export function QuestionView ({ call, question }: { call: Call, question: Question }) {
  const id = useId()
  const own = useRef<HTMLDivElement>(null)
  const heading = HEADINGS[question.method]
  const { message } = question.params
  useLayoutEffect(() => keepFocus(own.current), [])
  useEffect(
    () =>
      announce(
        `Call ${call.id}: ${heading}${typeof message === 'string' ? `: ${beginningOf(message, MAX_SPOKEN)}` : ''}`
      ),
    []
  )
  return (
    <div ref={own} class='question stack' role='group' aria-labelledby={id}>
      <h3 id={id}>{heading}</h3>
      {typeof message === 'string' && <p class='question-message'><CutText text={message} /></p>}
      <Body question={question} answer={(result, inWords) => answerQuestion(call, question, result, inWords)} />
    </div>
  )
}

/** A question that had the focus and goes away gives it to its call, not to the page. */
function keepFocus (question: HTMLElement | null): () => void {
  return () => {
    if (question?.contains(document.activeElement) === true) question.closest<HTMLElement>('.call')?.focus()
  }
}

function Body (props: QuestionProps) {
  const { method, params } = props.question
  if (method === 'sampling/createMessage') return <SamplingQuestion {...props} />
  if (method === 'roots/list') return <RootsQuestion {...props} />
  return params.mode === 'url' || typeof params.url === 'string'
    ? (
      <UrlQuestion {...props} />
      )
    : (
      <FormQuestion {...props} />
      )
}

const KINDS: Record<Question['method'], string> = {
  'elicitation/create': 'Question',
  'sampling/createMessage': 'Sampling',
  'roots/list': 'Folders'
}

export function AnsweredQuestions ({ answered }: { answered: Answered[] }) {
  if (answered.length === 0) return null
  return (
    <ol class='answered small'>
      {answered.map(({ method, message, answer, at }, index) => (
        <li key={index}>
          <span class='quiet'>
            <Time at={at} /> {KINDS[method]}
            {message === '' ? '' : ': '}
          </span>
          <ServerText text={message} /> <strong>{answer}</strong>
        </li>
      ))}
    </ol>
  )
}
