import { useContext, useState } from 'preact/hooks'
import { FormContext, type ShapedProps } from './form-context.js'
import { blankValue } from '../model/initial.js'
import { membersOf, takesMore, withField, type Member } from '../model/members.js'
import { below, type Fields } from '../model/value.js'

/** The fields of an object, and a way to add others where the schema lets them be. */
export function ObjectControl ({ shape: { schema }, value, onChange, at, id, depth }: ShapedProps) {
  const { Field } = useContext(FormContext)
  const fields: Fields = value instanceof Map ? value : new Map()
  const members = membersOf(schema, fields)
  return (
    <div class='fields'>
      {members.map((member, index) => (
        <Field
          key={member.name}
          name={member.name}
          schema={member.schema}
          required={member.required}
          fixed={!member.declared}
          value={fields.get(member.name)}
          at={below(at, member.name)}
          id={`${id}-${index}`}
          depth={depth + 1}
          onChange={changed => onChange(withField(fields, schema, member.name, changed))}
        >
          {member.declared
            ? null
            : (
              <button
                type='button'
                class='plain'
                onClick={() => onChange(withField(fields, schema, member.name, undefined))}
              >
                Remove<span class='visually-hidden'> {member.name}</span>
              </button>
              )}
        </Field>
      ))}
      {members.length === 0 && !takesMore(schema) ? <p class='quiet small'>There is nothing to fill in.</p> : null}
      {takesMore(schema)
        ? (
          <AddField
            id={id}
            members={members}
            depth={depth}
            onAdd={(name, added) => onChange(withField(fields, schema, name, added))}
            extra={schema.additionalProperties ?? true}
          />
          )
        : null}
    </div>
  )
}

interface AddFieldProps {
  id: string
  members: Member[]
  extra: Member['schema']
  depth: number
  onAdd: (name: string, value: ReturnType<typeof blankValue>) => void
}

function AddField ({ id, members, extra, depth, onAdd }: AddFieldProps) {
  const { root } = useContext(FormContext)
  const [name, setName] = useState('')
  const taken = members.some(member => member.name === name)
  const add = (): void => {
    if (taken) return
    onAdd(name, blankValue(extra, root, depth + 1))
    setName('')
  }
  return (
    <div class='row add'>
      <label for={`${id}-new`} class='visually-hidden'>
        Name of another field
      </label>
      <input
        id={`${id}-new`}
        class='grow'
        placeholder='Name of another field'
        autocomplete='off'
        value={name}
        aria-invalid={taken}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') {
            event.preventDefault()
            add()
          }
        }}
      />
      <button type='button' onClick={add} disabled={taken}>
        Add field
      </button>
      {taken
        ? (
          <span class='error small' role='status'>
            There is such a field already.
          </span>
          )
        : null}
    </div>
  )
}
