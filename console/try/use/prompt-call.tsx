import { useSignal } from '@preact/signals'
import type { JsonObject } from '../../client/contract.js'
import { submitKeys } from '../../parts/form-parts.js'
import { client } from '../../state/connection.js'
import { fieldsOf } from '../../state/drafts.js'
import type { Item } from '../../state/lists.js'
import { makeCall, promptCall } from '../actions.js'
import { CallsOf } from '../call/calls-of.js'
import { CompletedField } from './completed-field.js'
import { CopyButtons } from './copy-buttons.js'
import { filledArguments, missingOf, others, promptArguments } from './arguments.js'

/** The arguments of a prompt, and what it became. */
export function PromptCall ({ item }: { item: Item }) {
  const values = fieldsOf('prompt', item.key)
  const tried = useSignal(false)
  const wanted = promptArguments(item.raw)
  const missing = missingOf(wanted, values.value)
  const args: JsonObject = Object.fromEntries(filledArguments(wanted, values.value))
  const submit = (event: Event): void => {
    event.preventDefault()
    tried.value = true
    if (missing.length === 0) makeCall(promptCall(item.key, args))
  }
  return (
    <>
      <form class='card stack' onSubmit={submit} onKeyDown={submitKeys} noValidate aria-label='Arguments'>
        {wanted.length === 0 && <p class='quiet'>This prompt takes no arguments.</p>}
        {wanted.map(({ name, description, required }) => (
          <CompletedField
            key={name}
            name={name}
            description={description}
            required={required}
            value={values.value.get(name) ?? ''}
            wrong={tried.value && missing.includes(name) ? 'This argument is needed.' : undefined}
            change={value => {
              values.value = new Map(values.value).set(name, value)
            }}
            of={{ type: 'ref/prompt', name: item.key }}
            others={others(args, name)}
          />
        ))}
        <p class='error small' role='alert'>
          {tried.value && missing.length > 0
            ? `${missing.length === 1 ? 'One argument is' : `${missing.length} arguments are`} missing.`
            : ''}
        </p>
        <div class='row spread'>
          <button type='submit' class='primary' disabled={client.value === undefined}>
            Get the prompt
          </button>
          <CopyButtons request={() => promptCall(item.key, args)} />
        </div>
      </form>
      <CallsOf kind='prompt' name={item.key} />
    </>
  )
}
