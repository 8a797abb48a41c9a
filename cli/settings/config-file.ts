import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Options } from '../../options.js'
import { isObject } from '../../protocol/wire/json.js'
import { resolvePaths } from './paths.js'

/** The options of a JSON file, with paths relative to it. Throws a sentence that names the file. */
export function fromFile (file: string): Partial<Options> {
  try {
    const values: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(values)) throw new Error('it must hold a JSON object')
    return resolvePaths(values, dirname(file))
  } catch (error) {
    throw new Error(`config file ${file}: ${(error as Error).message}`, { cause: error })
  }
}
