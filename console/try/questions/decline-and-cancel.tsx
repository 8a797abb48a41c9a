import type { ComponentChildren } from 'preact'
import type { JsonObject, Question } from '../../client/contract.js'

export interface QuestionProps {
  question: Question
  /** Sends an answer, and records it in these words. */
  answer: (result: JsonObject, inWords: string) => void
}

/** The two other answers to every elicitation: no, and not now. */
export function DeclineAndCancel ({
  answer,
  children
}: {
  answer: QuestionProps['answer']
  children?: ComponentChildren
}) {
  return (
    <div class='row'>
      {children}
      <button type='button' onClick={() => answer({ action: 'decline' }, 'declined')}>
        Decline
      </button>
      <button type='button' class='plain' onClick={() => answer({ action: 'cancel' }, 'cancelled')}>
        Cancel the question
      </button>
    </div>
  )
}
