import { isObject } from '../../../protocol/wire/json.js'

/** The path to the first object that is sought, as a JSON Pointer in a URI; undefined where there is none. */
export function pathTo (
  value: unknown,
  isSought: (part: Record<string, unknown>) => boolean,
  path = ''
): string | undefined {
  if (isObject(value) && isSought(value)) return path
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const segment = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('%24', '$')
    const found = pathTo(member, isSought, `${path}/${segment}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** The part that a path leads to; undefined where there is none. */
export function valueAt (whole: unknown, path: string): unknown {
  return path.split('/').slice(1).reduce<unknown>((value, segment) => {
    const name = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? (value as Record<string, unknown>)[name]
      : undefined
  }, whole)
}
