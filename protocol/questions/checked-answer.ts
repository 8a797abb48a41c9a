import { lazily, type Schema } from '../schema/schema.js'
import { errors } from '../wire/errors.js'

/** Returns a function that gives a client's answer back, and throws invalid params when it does not fit the schema. */
export function checkedAnswer (method: string, schema: Schema): (answer: unknown) => unknown {
  const check = lazily(schema)
  return answer => {
    const wrong = check(answer)
    if (wrong !== undefined) throw errors.badAnswer(method, wrong)
    return answer
  }
}
