import { useContext } from 'preact/hooks'
import { RequiredMark } from '../../parts/form-parts.js'
import { HiddenBadge, ServerText } from '../../parts/server-text.js'
import { Control } from './control.js'
import { FormContext, type NamedFieldProps } from './form-context.js'
import { chooseControl } from '../model/controlled.js'
import { hintsOf } from '../model/hints.js'
import { Presence } from './presence.js'
import { textOf } from '../model/schema.js'
import { isGroup, shapeOf } from '../model/shape.js'
import { Typed, type Value } from '../model/value.js'

/** A field with its name, what its schema says about it, its control and what is wrong with it. */
export function Field ({ name, required, fixed = false, children, ...field }: NamedFieldProps) {
  const { root } = useContext(FormContext)
  const { schema, id, value } = field
  const shape = chooseControl(shapeOf(schema, root), value, field.depth)
  const about = textOf(shape.schema.description)
  const hint = hintsOf(shape)
  const problems = useProblems(field.at, value)
  const described = [about && `${id}-about`, hint && `${id}-hint`, problems.length > 0 && `${id}-error`]
  const describedBy = described.filter(Boolean).join(' ')
  const aria = {
    ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
    ...(problems.length > 0 ? { 'aria-invalid': true } : {}),
    ...(required && !isGroup(shape) ? { 'aria-required': true } : {})
  }
  const title = textOf(shape.schema.title)
  const label = (
    <>
      <ServerText text={title ?? name} />
      {title !== undefined && title !== name ? <code class='quiet'> <ServerText text={name} /></code> : null}
      <RequiredMark required={required} />
    </>
  )
  const inside = (
    <>
      {about !== undefined && <p id={`${id}-about`} class='quiet small field-about'><ServerText text={about} /></p>}
      <Control {...field} shape={shape} optional={!fixed} required={required} aria={aria} />
      {hint !== '' && <p id={`${id}-hint`} class='quiet small'><ServerText text={hint} /></p>}
      {typeof value === 'string' && <HiddenBadge texts={[value]} />}
      {problems.length > 0 && <Problems id={`${id}-error`} problems={problems} />}
    </>
  )
  const beside = (
    <span class='row field-side'>
      <Presence {...field} shape={shape} required={required} fixed={fixed} name={title ?? name} />
      {children}
    </span>
  )
  if (!isGroup(shape)) {
    return (
      <div class='field'>
        <div class='row spread'>
          <label for={id}>{label}</label>
          {beside}
        </div>
        {inside}
      </div>
    )
  }
  return (
    <fieldset class='field group' aria-describedby={aria['aria-describedby']} id={`${id}-group`} tabIndex={-1}>
      <legend class='visually-hidden'>{title ?? name}{required ? ' required' : ''}</legend>
      <div class='row spread'>
        <span class='label' aria-hidden='true'>{label}</span>
        {beside}
      </div>
      {inside}
    </fieldset>
  )
}

function Problems ({ id, problems }: { id: string, problems: readonly string[] }) {
  return (
    <p id={id} class='error small'>
      {problems.map(text => <span key={text}><ServerText text={text} />{' '}</span>)}
    </p>
  )
}

function useProblems (at: string, value: Value | undefined): string[] {
  const { errors } = useContext(FormContext)
  const own = value instanceof Typed && value.problem !== undefined && value.text !== '' ? [value.problem] : []
  const given = errors.get(at) ?? []
  return [...own, ...given.filter(text => !own.includes(text))]
}
