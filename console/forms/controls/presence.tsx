import { useContext } from 'preact/hooks'
import { FormContext, type FieldProps } from './form-context.js'
import { blankValue } from '../model/initial.js'
import type { Shape } from '../model/shape.js'
import { Typed } from '../model/value.js'

interface PresenceProps extends FieldProps { shape: Shape, name: string, required: boolean, fixed: boolean }

/**
 * Lets a person choose that a field is left out, null, or has a value. Choices have these among their own; where typing
 * alone says it, nothing is asked.
 */
export function Presence ({ shape, name, required, fixed, schema, value, onChange, depth }: PresenceProps) {
  const { root } = useContext(FormContext)
  const { kind, nullable } = shape
  if (kind === 'choice' || kind === 'nothing') return null
  const canBeNull = nullable || value === null
  const canBeAbsent = !fixed && (!required || value === undefined || kind === 'text')
  const typedOnly = kind === 'number' || kind === 'json'
  const settled = required && value !== undefined && value !== ''
  if (!canBeNull && (fixed || typedOnly || settled)) return null
  const state = value === undefined ? 'absent' : value === null ? 'null' : 'value'
  const choose = (chosen: string): void => {
    if (chosen === state) return
    if (chosen === 'value') onChange(blankValue(schema, root, depth))
    else onChange(chosen === 'null' ? null : undefined)
  }
  return (
    <select
      class='presence'
      aria-label={`State of ${name}`}
      value={state}
      onChange={event => choose(event.currentTarget.value)}
    >
      {canBeAbsent ? <option value='absent'>{required ? 'not set' : 'left out'}</option> : null}
      <option value='value'>{wordsFor(kind, value === '' || (value instanceof Typed && value.text === ''))}</option>
      {canBeNull ? <option value='null'>null</option> : null}
    </select>
  )
}

function wordsFor (kind: Shape['kind'], empty: boolean): string {
  if (kind === 'text') return empty ? 'empty text' : 'text'
  if (kind === 'array' || kind === 'choices') return 'list'
  return kind === 'object' ? 'object' : 'value'
}
