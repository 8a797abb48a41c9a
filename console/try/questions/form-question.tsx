import { useMemo } from 'preact/hooks'
import { SubmittedForm } from '../../forms/submitted-form.js'
import { formSchema } from './answers.js'
import { DeclineAndCancel, type QuestionProps } from './decline-and-cancel.js'

/** A form of the server. */
export function FormQuestion ({ question: { params }, answer }: QuestionProps) {
  const schema = useMemo(() => formSchema(params), [params])
  return (
    <SubmittedForm schema={schema} send={content => answer({ action: 'accept', content }, 'accepted')}>
      <DeclineAndCancel answer={answer}>
        <button type='submit' class='primary'>
          Accept
        </button>
      </DeclineAndCancel>
    </SubmittedForm>
  )
}
