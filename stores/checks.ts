import { errors } from '../protocol/wire/errors.js'

/** True for a text that every adapter can store as a key: not empty, not too long, well-formed, without NUL. */
export const isKey = (key: string): boolean => key !== '' && key.length <= 1_024 && !/[\0\p{Surrogate}]/u.test(key)

export function checkKey (space: string, key: string): void {
  if (!isKey(space) || !isKey(key)) throw errors.storage('a key is 1 to 1024 characters of well-formed text')
}

export function checkSum (value: unknown, by: number): number {
  if (typeof value !== 'number') throw errors.storage('the value is not a number')
  const sum = value + by
  if (!Number.isSafeInteger(by) || !Number.isSafeInteger(sum)) {
    throw errors.invalidParams(`${value} and ${by} have no sum that can be counted exactly`)
  }
  return sum
}

/** Compares by code point, which is the order of UTF-8 bytes. */
export const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Throws on values that JSON cannot represent, such as a function or a cycle. */
export function encodeStored (value: unknown): string {
  const text = attempt(() => JSON.stringify(value) as string | undefined)
  if (text === undefined) throw errors.storage('the value cannot be written as JSON')
  return text
}

function attempt<T> (work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
