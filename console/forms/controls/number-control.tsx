import type { ShapedProps } from './form-context.js'
import { numberFrom } from '../model/number-text.js'
import { Typed } from '../model/value.js'

/** A number as it is typed. A browser's own number field would round long ones and change by the wheel. */
export function NumberControl ({ shape, value, onChange, id, aria, optional }: ShapedProps) {
  const text = value instanceof Typed ? unquoted(value.text) : value === undefined ? '' : String(value)
  const type = (typed: string) => onChange(typed === '' && optional ? undefined : numberFrom(typed.trim()))
  return (
    <input
      {...aria}
      id={id}
      type='text'
      inputMode={shape.schema.type === 'integer' ? 'numeric' : 'decimal'}
      autocomplete='off'
      value={text}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  )
}

/** Removes the quotes of a JSON text: a value that is no number is kept as one. */
const unquoted = (text: string): string => text.startsWith('"') ? String(JSON.parse(text)) : text
