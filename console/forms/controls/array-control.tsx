import { useContext } from 'preact/hooks'
import { FormContext, type ShapedProps } from './form-context.js'
import { blankValue } from '../model/initial.js'
import { itemSchema } from '../model/members.js'
import { announce } from '../../parts/announce.js'
import { below, type Value } from '../model/value.js'

/** A list whose items are added, removed and moved by buttons. */
export function ArrayControl ({ shape: { schema }, value, onChange, at, id, depth }: ShapedProps) {
  const { root, Field } = useContext(FormContext)
  const items: Value[] = Array.isArray(value) ? value : []
  const next = itemSchema(schema, items.length)
  const remove = (index: number): void => {
    onChange(items.toSpliced(index, 1))
    announce(`Item ${index + 1} removed`)
    focusOn([`${id}-add`, `${id}-${items.length - 2}-remove`])
  }
  const move = (index: number, to: number): void => {
    onChange(items.toSpliced(index, 1).toSpliced(to, 0, items[index] as Value))
    announce(`Item ${index + 1} is now item ${to + 1}`)
    // The focus goes with the item, so that the same key moves it on.
    focusOn(to < index ? [`${id}-${to}-up`, `${id}-${to}-down`] : [`${id}-${to}-down`, `${id}-${to}-up`])
  }
  return (
    <div class='fields'>
      {items.map((item, index) => (
        <Field
          key={index}
          name={`Item ${index + 1}`}
          schema={itemSchema(schema, index) ?? true}
          required={false}
          fixed
          value={item}
          at={below(at, index)}
          id={`${id}-${index}`}
          depth={depth + 1}
          onChange={changed => onChange(items.with(index, changed ?? null))}
        >
          <ItemButtons index={index} count={items.length} id={`${id}-${index}`} move={move} remove={remove} />
        </Field>
      ))}
      <div>
        <button
          type='button'
          id={`${id}-add`}
          disabled={next === undefined}
          onClick={() => onChange([...items, blankValue(next, root, depth + 1)])}
        >
          Add item
        </button>
      </div>
    </div>
  )
}

interface ItemButtonsProps {
  index: number
  count: number
  /** That of the item; each button has it with a name behind it. */
  id: string
  move: (index: number, to: number) => void
  remove: (index: number) => void
}

function ItemButtons ({ index, count, id, move, remove }: ItemButtonsProps) {
  const name = `item ${index + 1}`
  const isLast = index === count - 1
  const buttons = [
    { key: 'up', sign: '↑', label: `Move ${name} up`, disabled: index === 0, act: () => move(index, index - 1) },
    { key: 'down', sign: '↓', label: `Move ${name} down`, disabled: isLast, act: () => move(index, index + 1) },
    { key: 'remove', sign: '✕', label: `Remove ${name}`, disabled: false, act: () => remove(index) }
  ]
  return (
    <span class='item-buttons'>
      {buttons.map(({ key, sign, label, disabled, act }) => (
        <button
          key={key}
          type='button'
          class='plain'
          id={`${id}-${key}`}
          disabled={disabled}
          onClick={act}
          aria-label={label}
        >
          {sign}
        </button>
      ))}
    </span>
  )
}

/** Focuses the first of these buttons that can be pressed, once the change is drawn. */
function focusOn (ids: string[]): void {
  requestAnimationFrame(() => {
    const buttons = ids.map(id => document.getElementById(id))
    buttons.find(button => button instanceof HTMLButtonElement && !button.disabled)?.focus()
  })
}
