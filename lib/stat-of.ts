import { statSync, type Stats } from 'node:fs'

/** What a path leads to; undefined if that cannot be found out: nothing is there, a link leads in a circle, a folder above is not readable. */
export function statOf (path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
