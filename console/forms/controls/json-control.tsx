import type { ShapedProps } from './form-context.js'
import { problemWords } from '../draft.js'
import { parseJson } from '../model/json-text.js'
import { Typed, print, type Value } from '../model/value.js'

/** A box for one field's JSON: the text stays as it is typed. */
export function JsonControl ({ value, onChange, id, aria, optional }: ShapedProps) {
  const type = (text: string) => onChange(text.trim() === '' && optional ? undefined : typedJson(text))
  return (
    <textarea
      {...aria}
      id={id}
      class='code grows'
      rows={1}
      spellcheck={false}
      placeholder='JSON'
      value={print(value)}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  )
}

function typedJson (text: string): Value {
  const read = parseJson(text)
  if ('problem' in read) return new Typed(text, undefined, problemWords(read.problem))
  return read.value === undefined ? new Typed(text, undefined, 'Write a JSON value.') : new Typed(text, read.value)
}
