import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, resolve } from 'node:path'

const maps = new Map<string, SourceMap | undefined>()

/**
 * File, line and column of the source, for a place in a file with a source map beside it; any other place as it is.
 * Maps are read when an error is shown: if Node.js read those of all our files at start, that would take 150 ms.
 */
export function sourcePlace (place: string): string {
  const [, file = '', line, column] = /^(.*\.js):(\d+):(\d+)$/.exec(place) ?? []
  const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
  if (entry === undefined || !('originalSource' in entry)) return place
  return `${resolve(dirname(file), entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}

function mapOf (file: string): SourceMap | undefined {
  if (file !== '' && !maps.has(file)) maps.set(file, read(`${file}.map`))
  return maps.get(file)
}

function read (file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined
  }
}
