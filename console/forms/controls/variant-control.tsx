import { useContext, useState } from 'preact/hooks'
import { FormContext, type ShapedProps } from './form-context.js'
import { chooseControl } from '../model/controlled.js'
import { blankValue } from '../model/initial.js'
import { shapeOf } from '../model/shape.js'
import { pickVariant } from '../model/variants.js'

/** A choice between variants, and the control of the chosen one. Another choice begins with an empty value. */
export function VariantControl ({ shape, ...props }: ShapedProps) {
  const { root, Control } = useContext(FormContext)
  const [chosen, setChosen] = useState(0)
  const index = pickVariant(shape.variants.map(({ schema }) => schema), props.value, root, chosen)
  const choose = (to: number): void => {
    setChosen(to)
    props.onChange(blankValue(shape.variants[to]?.schema, root, props.depth))
  }
  const schema = shape.variants[index]?.schema
  const depth = props.depth + 1
  return (
    <div class='fields'>
      <select
        id={`${props.id}-variant`}
        aria-label='Variant'
        value={String(index)}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      >
        {shape.variants.map(({ name }, place) => (
          <option key={place} value={String(place)}>
            {name}
          </option>
        ))}
      </select>
      <Control
        {...props}
        key={index}
        schema={schema}
        shape={chooseControl(shapeOf(schema, root), props.value, depth)}
        depth={depth}
        optional={false}
        aria={{ ...props.aria, 'aria-label': shape.variants[index]?.name ?? 'Value' }}
      />
    </div>
  )
}
