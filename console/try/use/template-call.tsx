import { useSignal } from '@preact/signals'
import { ServerText } from '../../parts/server-text.js'
import { submitKeys } from '../../parts/form-parts.js'
import { client } from '../../state/connection.js'
import { fieldsOf } from '../../state/drafts.js'
import type { Item } from '../../state/lists.js'
import { makeCall, templateCall } from '../actions.js'
import { CallsOf } from '../call/calls-of.js'
import { CompletedField } from './completed-field.js'
import { CopyButtons } from './copy-buttons.js'
import { SubscribeButton } from './resource-call.js'
import { filledArguments, missingOf, others } from './arguments.js'
import { expand, variablesOf } from './uri-template.js'

/** Fills a template in, and reads what it names. */
export function TemplateCall ({ item }: { item: Item }) {
  const values = fieldsOf('template', item.key)
  const tried = useSignal(false)
  const wanted = variablesOf(item.key)
  const missing = missingOf(wanted, values.value)
  const uri = expand(item.key, values.value)
  const args = Object.fromEntries(filledArguments(wanted, values.value))
  const request = () => templateCall(item.key, uri, values.value)
  const submit = (event: Event): void => {
    event.preventDefault()
    tried.value = true
    if (missing.length === 0) makeCall(request())
  }
  return (
    <>
      <form class='card stack' onSubmit={submit} onKeyDown={submitKeys} noValidate aria-label='Variables'>
        {wanted.map(({ name, required }) => (
          <CompletedField
            key={name}
            name={name}
            required={required}
            value={values.value.get(name) ?? ''}
            wrong={tried.value && missing.includes(name) ? 'This variable is needed.' : undefined}
            change={value => {
              values.value = new Map(values.value).set(name, value)
            }}
            of={{ type: 'ref/resource', uri: item.key }}
            others={others(args, name)}
          />
        ))}
        <p class='small'>
          <span class='quiet'>URI</span>{' '}
          <code>
            <ServerText text={uri} />
          </code>
        </p>
        <div class='row spread'>
          <div class='row'>
            <button type='submit' class='primary' disabled={client.value === undefined}>
              Read
            </button>
            {missing.length === 0 && <SubscribeButton uri={uri} />}
          </div>
          <CopyButtons request={request} />
        </div>
      </form>
      <CallsOf kind='template' name={item.key} />
    </>
  )
}
