import { createContext, type ComponentChildren, type ComponentType } from 'preact'
import type { Json } from '../../client/contract.js'
import type { Shape } from '../model/shape.js'
import type { Pointer, Value } from '../model/value.js'

/** Suggests values for a text field of the first level, as `completion/complete` does. */
export type Complete = (name: string, typed: string) => Promise<readonly string[]>

/** The parts of a form that every field needs. */
interface Form {
  root: Json
  errors: ReadonlyMap<Pointer, string[]>
  complete?: Complete | undefined
  /** The component with which objects, lists and variants draw their parts. */
  Field: ComponentType<NamedFieldProps>
  Control: ComponentType<ShapedProps>
}

export const FormContext = createContext<Form>({
  root: true,
  errors: new Map(),
  Field: () => null,
  Control: () => null
})

/** One field: the schema it is made from, its value, and how it is named to machines. */
export interface FieldProps {
  schema: Json | undefined
  value: Value | undefined
  /** Undefined leaves the field out; items of lists, which cannot be left out, never get it. */
  onChange: (value: Value | undefined) => void
  at: Pointer
  /** Made of counters only, never of a server's text. */
  id: string
  depth: number
}

/** Properties of a control, with the attributes that link it with its description and errors. */
interface ControlProps extends FieldProps {
  /** The field can be left out: it is no item of a list. */
  optional: boolean
  required: boolean
  aria: { 'aria-label'?: string, 'aria-describedby'?: string, 'aria-invalid'?: boolean, 'aria-required'?: boolean }
}

export interface ShapedProps extends ControlProps { shape: Shape }

export interface NamedFieldProps extends FieldProps {
  name: string
  required: boolean
  /** The field cannot be left out: it is an item of a list. */
  fixed?: boolean
  /** Buttons of the list or object around it. */
  children?: ComponentChildren
}
