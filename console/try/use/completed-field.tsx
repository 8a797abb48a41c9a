import { useSignal } from '@preact/signals'
import { useEffect, useId, useMemo } from 'preact/hooks'
import type { JsonObject } from '../../client/contract.js'
import { RequiredMark } from '../../parts/form-parts.js'
import { CutText, ServerText } from '../../parts/server-text.js'
import { client } from '../../state/connection.js'
import { Completer, type Reference } from './completion.js'

interface FieldProps {
  name: string
  description?: string | undefined
  required: boolean
  value: string
  /** Its mistake, in words. */
  wrong?: string | undefined
  change: (value: string) => void
  /** The prompt or template of the argument, and the other arguments as they are typed. */
  of: Reference
  others: JsonObject
}

/** A text field for one argument, which the server may complete. */
export function CompletedField ({ name, description, required, value, wrong, change, of, others }: FieldProps) {
  const id = useId()
  const values = useSignal<string[]>([])
  const completer = useMemo(() => new Completer(found => { values.value = found }), [])
  useEffect(() => () => completer.stop(), [])
  const ask = (typed: string): void => completer.ask(client.value, of, name, typed, others)
  return (
    <div class='field'>
      <label for={id}>
        <ServerText text={name} />
        <RequiredMark required={required} />
      </label>
      {description !== undefined && (
        <p id={`${id}-about`} class='small quiet'>
          <CutText text={description} />
        </p>
      )}
      <input
        id={id}
        type='text'
        list={`${id}-values`}
        autocomplete='off'
        spellcheck={false}
        value={value}
        aria-required={required}
        aria-invalid={wrong !== undefined}
        aria-describedby={`${id}-about ${id}-wrong`}
        onFocus={() => ask(value)}
        onInput={event => {
          change(event.currentTarget.value)
          ask(event.currentTarget.value)
        }}
      />
      <datalist id={`${id}-values`}>
        {values.value.map(found => (
          <option key={found} value={found} />
        ))}
      </datalist>
      {wrong !== undefined && (
        <p id={`${id}-wrong`} class='error small'>
          {wrong}
        </p>
      )}
    </div>
  )
}
