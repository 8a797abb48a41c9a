import { ArrayControl } from './array-control.js'
import { ChoiceControl, SeveralControl } from './choice-control.js'
import type { ShapedProps } from './form-context.js'
import { JsonControl } from './json-control.js'
import { NumberControl } from './number-control.js'
import { ObjectControl } from './object-control.js'
import { isGroup } from '../model/shape.js'
import { TextControl } from './text-control.js'
import { choiceIndex, isChoice } from '../model/variants.js'
import { VariantControl } from './variant-control.js'

/** The control for a shape; none for null and for what is left out, where typing does not change that. */
export function Control (props: ShapedProps) {
  const { shape, value } = props
  if (shape.kind === 'nothing') return <p class='quiet small'>The schema allows no value here.</p>
  if (shape.kind === 'choice') return <ChoiceControl {...props} radios={isGroup(shape)} />
  if (value === null && shape.kind !== 'json') return null
  if (shape.kind === 'text') return <TextControl {...props} />
  if (shape.kind === 'number') return <NumberControl {...props} />
  if (shape.kind === 'json') return <JsonControl {...props} />
  if (value === undefined) return null
  if (shape.kind === 'variants') return <VariantControl {...props} />
  if (shape.kind === 'object') return <ObjectControl {...props} />
  if (
    shape.kind === 'choices' &&
    Array.isArray(value) &&
    value.every(item => isChoice(shape, item)) &&
    new Set(value.map(item => choiceIndex(shape, item))).size === value.length
  ) { return <SeveralControl {...props} /> }
  return <ArrayControl {...props} />
}
