import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { isObject, withoutByteOrderMark } from '../../../protocol/wire/json.js'
import type { Json } from './references.js'

/** A document that describes an API, and which version of the format it has. */
export interface ApiDocument { readonly root: Json, readonly format: '2.0' | '3.0' | '3.1' }

/** Reads a document in JSON or YAML; `name` is that of its file. Throws in words. */
export async function parseDocument (bytes: Buffer, name: string): Promise<ApiDocument> {
  if (!isUtf8(bytes)) throw new Error('it is not text in UTF-8')
  const text = withoutByteOrderMark(bytes).toString('utf8')
  const root = /^\s*[{[]/.test(text) && !/^\.ya?ml$/i.test(extname(name)) ? parseJson(text) : await parseYaml(text)
  if (!isObject(root)) throw new Error('it is no OpenAPI document: it has no member "openapi" or "swagger"')
  return { root, format: formatOf(root) }
}

function parseJson (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not valid JSON')
  }
}

const INSTEAD = 'save it as JSON, which may be longer (limit maxApiDocument)'

async function parseYaml (text: string): Promise<unknown> {
  const [{ parseYaml }, { DocumentError }] = await Promise.all([
    import('../../../system/documents/yaml.js'), import('../../../system/documents/document.js')
  ])
  try {
    return parseYaml(text, INSTEAD).value
  } catch (error) {
    if (!(error instanceof DocumentError)) throw new Error('it cannot be read as YAML', { cause: error })
    throw new Error(error.line === undefined ? error.message : `line ${error.line}: ${error.message}`)
  }
}

function formatOf ({ openapi, swagger }: Json): ApiDocument['format'] {
  const version = String(openapi ?? swagger ?? '')
  if (swagger !== undefined && /^2(\.0)?$/.test(version)) return '2.0'
  if (/^3\.0(\.|$)/.test(version)) return '3.0'
  if (/^3\.[1-9]\d*(\.|$)/.test(version)) return '3.1'
  throw new Error(version === ''
    ? 'it is no OpenAPI document: it has no member "openapi" or "swagger"'
    : 'it is of a version of OpenAPI that Patchbay does not know; 2.0, 3.0 and 3.1 are known')
}
