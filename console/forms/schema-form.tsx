import { useMemo } from 'preact/hooks'
import type { Json } from '../client/contract.js'
import { ServerText } from '../parts/server-text.js'
import type { FieldError } from './check.js'
import { Control } from './controls/control.js'
import { Field } from './controls/field.js'
import { FormContext, type Complete } from './controls/form-context.js'
import { chooseControl } from './model/controlled.js'
import { shapeOf } from './model/shape.js'
import type { Pointer, Value } from './model/value.js'

interface SchemaFormProps {
  /** A JSON Schema; `true` where there is none. */
  schema: Json
  value: Value | undefined
  onChange: (value: Value | undefined) => void
  errors?: readonly FieldError[]
  /** Begins the ids of all fields; made by the page, never of a server's text. */
  idPrefix: string
  complete?: Complete | undefined
}

/** A form for what a JSON Schema describes. */
export function SchemaForm ({ schema, value, onChange, errors = [], idPrefix, complete }: SchemaFormProps) {
  const byPlace = useMemo(() => groupByPlace(errors), [errors])
  const own = byPlace.get('') ?? []
  return (
    <FormContext.Provider value={{ root: schema, errors: byPlace, complete, Field, Control }}>
      <div class='schema-form'>
        <Control
          schema={schema}
          shape={chooseControl(shapeOf(schema, schema), value, 0)}
          value={value}
          onChange={onChange}
          at=''
          id={idPrefix}
          depth={0}
          optional={false}
          required
          aria={
            own.length === 0
              ? { 'aria-label': 'Value' }
              : { 'aria-label': 'Value', 'aria-describedby': `${idPrefix}-error` }
          }
        />
        {own.length === 0
          ? null
          : (
            <p id={`${idPrefix}-error`} class='error small'>
              {own.map(text => (
                <span key={text}>
                  <ServerText text={text} />{' '}
                </span>
              ))}
            </p>
            )}
      </div>
    </FormContext.Provider>
  )
}

function groupByPlace (errors: readonly FieldError[]): Map<Pointer, string[]> {
  const grouped = new Map<Pointer, string[]>()
  for (const { at, message } of errors) grouped.set(at, [...grouped.get(at) ?? [], message])
  return grouped
}
