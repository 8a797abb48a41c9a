/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/** Gives a value to the next function: at once if it is there, later if it is a promise. */
export function chain<T, R> (value: T | PromiseLike<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromise(value) ? Promise.resolve(value.then(next)) : next(value)
}

const isPromise = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
