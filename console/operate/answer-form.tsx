import { useMemo } from 'preact/hooks'
import type { JsonObject } from '../client/contract.js'
import { SubmittedForm } from '../forms/submitted-form.js'

/** The form of a question that a call asks, which an operator fills in for its client. */
export function AnswerForm (
  { schema, name, send }: { schema: JsonObject, name: string, send: (content: JsonObject) => void }
) {
  const own = useMemo(() => ({ ...schema, type: 'object' }), [schema])
  return (
    <SubmittedForm schema={own} send={send}>
      <div class='row'>
        <button type='submit' class='primary'>Answer<span class='visually-hidden'> the question of {name}</span></button>
      </div>
    </SubmittedForm>
  )
}
