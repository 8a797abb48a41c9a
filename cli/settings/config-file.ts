import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isObject } from '../../protocol/wire/json.js'
import { describeForeignWriters } from '../../system/files/own-file.js'
import { JsonError, placesOf, repeatedNames, withoutComments, type Place } from './json-places.js'
import { resolvePaths } from './paths.js'
import type { Source } from './source.js'

/** The largest config file, in bytes. */
const MAX_SIZE = 16 * 1024 * 1024

/** A variable for which a program is run. */
const COMMAND = /\$\{command:/

/**
 * The options of a JSON file, which may have comments, with paths relative to it. `$schema`, which editors use, is not
 * one. A file that is not named, but found in its place, must be the user's own.
 */
export function readConfigFile (file: string, isNamed = true): Source {
  let text = ''
  let places: Map<string, Place> | undefined
  const originOf = (path: string): string => {
    const line = nearest(places ??= placesOf(text), path)?.line
    return `config file ${file}${line === undefined ? '' : `, line ${line}`}`
  }
  try {
    if (statSync(file).size > MAX_SIZE) throw new Error(`it has more than ${MAX_SIZE} bytes; remove what is not needed`)
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
    const { $schema, ...options } = parse(text)
    const mistakes = repeatedNames(text).map(
      ({ name, place, first }) =>
        `config file ${file}, line ${place.line}: the name "${name}" is there already (line ${first.line}); remove one of them`
    )
    const hasCommand = COMMAND.test(JSON.stringify(options))
    const foreign = hasCommand || !isNamed ? describeForeignWriters(file) : undefined
    if (foreign !== undefined) {
      const why = hasCommand
        ? 'it has ${command:…}, which is run only in files of the operator' // eslint-disable-line no-template-curly-in-string
        : 'it is read only if it is the user\'s own, or named with --config'
      mistakes.push(`config file ${file}: ${why}, and ${foreign}`)
    }
    return { options: resolvePaths(options, dirname(file)), mistakes, originOf }
  } catch (error) {
    const where = error instanceof JsonError ? `, line ${error.place.line}, column ${error.place.column}` : ''
    return {
      options: {},
      mistakes: [`config file ${file}${where}: ${reasonOf(error as NodeJS.ErrnoException)}`],
      originOf
    }
  }
}

function reasonOf (error: NodeJS.ErrnoException): string {
  const { code, message } = error
  // The stack is not deep enough for it.
  if (error instanceof RangeError) return 'it is nested too deeply'
  return code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'this is a folder, not a JSON file' : message
}

function parse (text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Not every version of Node.js names the place.
    placesOf(text)
    value = JSON.parse(withoutComments(text))
  }
  if (!isObject(value)) throw new Error('it must hold a JSON object')
  return value
}

/** The place of a path, or of the innermost part around it that has one. */
function nearest (places: Map<string, Place>, path: string): Place | undefined {
  for (let part = path; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) {
    const place = places.get(part)
    if (place !== undefined) return place
  }
  return undefined
}
