import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import { isObject, type JsonObject } from '../client/contract.js'
import { submitKeys } from '../parts/form-parts.js'
import { newDraft, withValue } from './draft.js'
import { ErrorSummary } from './error-summary.js'
import { SchemaForm } from './schema-form.js'
import { useCheck } from './use-check.js'

interface Props { schema: JsonObject, send: (content: JsonObject) => void, children: ComponentChildren }

/** A form of a schema, whose content is sent when it is submitted and fits. Its buttons are the children. */
export function SubmittedForm ({ schema, send, children }: Props) {
  const id = useId()
  const draft = useSignal(useMemo(() => newDraft(schema), [schema]))
  const { errors, check } = useCheck(draft.value, value => { if (isObject(value)) send(value) })
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
      {children}
    </form>
  )
}
