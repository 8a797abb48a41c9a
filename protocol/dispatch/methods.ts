import { errors } from '../wire/errors.js'
import { DEFAULT_SCOPES } from '../wire/identity.js'
import { lazily, type Schema } from '../schema/schema.js'
import type { Handler, Method, MethodOptions } from './pipeline.js'

/** What can be asked for, by name. */
export class Methods {
  readonly #all = new Map<string, Method>()

  add (name: string, schema: Schema, handle: Handler, { timed = true, scopes = DEFAULT_SCOPES, unknown = () => errors.methodNotFound(name) }: MethodOptions = {}): void {
    if (this.#all.has(name)) throw new Error(`method ${name} is registered already`)
    const fixed = { scopes: scopes as readonly string[] }
    const target = typeof scopes === 'function' ? scopes : () => fixed
    this.#all.set(name, { check: lazily(schema), handle, timed, target, unknown })
  }

  get (name: string): Method | undefined {
    return this.#all.get(name)
  }
}
