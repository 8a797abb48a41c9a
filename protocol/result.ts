/** A result that is JSON text already, such as a page of a list that is written once and sent many times. */
export class Json {
  constructor (readonly text: string) {}
}

/** Throws when the result is not a JSON object: clients could not read it. */
export function toJson (result: object | Json): string {
  if (result instanceof Json) return result.text
  const text = JSON.stringify(result) as string | undefined
  if (text?.startsWith('{') !== true) throw new Error('a method has to answer with an object')
  return text
}

/** True for what has to be awaited, a promise of ours or not. */
export const isThenable = (value: unknown): value is PromiseLike<object | Json> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
