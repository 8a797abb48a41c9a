import { useSignal } from '@preact/signals'
import { useId, useMemo } from 'preact/hooks'
import { isObject } from '../../client/contract.js'
import { newDraft, withValue } from '../../forms/draft.js'
import { ErrorSummary } from '../../forms/error-summary.js'
import { SchemaForm } from '../../forms/schema-form.js'
import { useCheck } from '../../forms/use-check.js'
import { submitKeys } from '../../parts/form-parts.js'
import { formSchema } from './answers.js'
import { DeclineAndCancel, type QuestionProps } from './decline-and-cancel.js'

/** A form of the server. */
export function FormQuestion ({ question: { params }, answer }: QuestionProps) {
  const id = useId()
  const draft = useSignal(useMemo(() => newDraft(formSchema(params)), [params]))
  const { errors, check } = useCheck(draft.value, value => {
    if (isObject(value)) answer({ action: 'accept', content: value }, 'accepted')
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    check()
  }
  return (
    <form class='stack' onSubmit={submit} onKeyDown={submitKeys} noValidate>
      <ErrorSummary errors={errors} idPrefix={id} />
      <SchemaForm
        schema={draft.value.schema}
        value={draft.value.value}
        onChange={value => {
          draft.value = withValue(draft.value, value)
        }}
        errors={errors}
        idPrefix={id}
      />
      <DeclineAndCancel answer={answer}>
        <button type='submit' class='primary'>
          Accept
        </button>
      </DeclineAndCancel>
    </form>
  )
}
