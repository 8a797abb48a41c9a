import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { entry } from '../version.js'
import { near } from './plugin-place.js'
import { isReloadable, withoutGeneration } from './reload/generation.js'

type Known = Error & { code?: string, requireStack?: string[] }

/** Imports of a module that is named in the source. */
export const NAMED_IMPORT = /\b(?:from|import|require)\s*\(?\s*['"`]([^'"`]+)['"`]/g

/** Our own files that the tools of the checkout import, and what an author imports instead. */
const OURS = /\/protocol\/(?:definitions\/|wire\/)?(tool|resource|prompt|errors)(?:\.[jt]s)?$/

const WRONG_KIND: Array<[says: RegExp, hint: string]> = [
  [
    /^(?:require|module|exports|__filename|__dirname) is not defined/,
    'the file is an ES module: use import and export, or name it .cjs'
  ],
  [
    /^Cannot use import statement outside a module|^Unexpected token 'export'|^Cannot require\(\) ES Module .* in a cycle/,
    'the file is CommonJS: name it .mjs or .ts, or set "type": "module" in its package.json'
  ]
]

/**
 * The reason why a file of an author cannot be loaded, what to do about it, and where: the line in the file, or in one
 * of those that it may import.
 */
export async function explain (error: unknown, file: string, imported: string[] = []): Promise<string> {
  if (!(error instanceof Error)) return String(error)
  const missing = missingModule(error, file)
  if (missing !== undefined) return missing
  const hint = WRONG_KIND.find(([says]) => says.test(error.message))?.[1]
  const place = /\bline \d+, column/.test(error.message)
    ? ''
    : lineIn(file, error) || (await lineOfSyntax(file, error, imported))
  return `${error.message.replace(`(${file}, line `, '(line ')}${hint === undefined ? '' : `; ${hint}`}${place}`
}

/** An import that finds nothing. Node.js names the module and the file that imports it, not the line. */
function missingModule (error: Known, file: string): string | undefined {
  const [, kind, found = '', importedFrom] =
    /^Cannot find (package|module) '([^']+)'(?: imported from (\S.*))?/.exec(error.message) ?? []
  const importer = importedFrom ?? error.requireStack?.[0]
  if (kind === undefined || importer === undefined) return undefined
  const from = withoutQuery(importer)
  const isPackage = kind === 'package' || !/^[./]/.test(found)
  const line = lineOfImport(
    from,
    name => name === found || (isPackage ? name.startsWith(`${found}/`) : resolve(dirname(from), name) === found)
  )
  const place = [...(from === file ? [] : [from]), ...(line === undefined ? [] : [`line ${line}`])].join(', ')
  const at = place === '' ? '' : ` (${place})`
  if (isPackage) return `the package "${found}" is not installed; run "npm i ${found}" in ${projectOf(from)}${at}`
  const [, ours] = OURS.exec(found) ?? []
  if (ours !== undefined) {
    return `${found} is not there: ${basename(dirname(found))}/${basename(found)} is a file of the Patchbay checkout; outside of it write: import { ${ours === 'errors' ? 'ToolError' : ours} } from 'mcp-patchbay'${at}`
  }
  return `there is no file ${found}${near(found)}${at}`
}

function lineOfImport (file: string, isIt: (name: string) => boolean): number | undefined {
  if (!existsSync(file)) return undefined
  const source = readFileSync(file, 'utf8')
  for (const match of source.matchAll(NAMED_IMPORT)) {
    if (isIt(match[1] ?? '')) return source.slice(0, match.index).split('\n').length
  }
  return undefined
}

/** The folder in which a package is installed for a file: the nearest with a package.json, or else its own. */
function projectOf (file: string): string {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  return dirname(file)
}

/**
 * The first line of an author's file in the stack of an error, of this one if it is there, or else of one that it
 * imports.
 */
function lineIn (file: string, { stack = '' }: Error): string {
  const frames = stack
    .split('\n')
    .map(frame => /(?:^|[\s(])((?:file:\/\/)?\/[^()]*?)(?:\?patchbay=\d+)?:(\d+)(?::\d+)?\)?$/.exec(decodeText(frame)))
    .filter(found => found !== null)
  const places = frames.map(([, place = '', line = '']) => ({ path: place.replace(/^file:\/\//, ''), line }))
  const own = places.find(({ path }) => path === file)
  if (own !== undefined) return ` (line ${own.line})`
  const imported = places.find(({ path }) => isReloadable(pathToFileURL(path).href, entry))
  return imported === undefined ? '' : ` (${imported.path}, line ${imported.line})`
}

/** Node.js names no line for the syntax of an ES module; the compiler of TypeScript does. */
async function lineOfSyntax (file: string, { name, message }: Error, imported: string[]): Promise<string> {
  if (name !== 'SyntaxError') return ''
  for (const one of [file, ...imported]) {
    const line = existsSync(one) && /\.[mc]?[jt]s$/.test(one) ? await wrongLine(one, message) : undefined
    if (line !== undefined) return ` (${one === file ? '' : `${one}, `}${line})`
  }
  return ''
}

async function wrongLine (file: string, message: string): Promise<string | undefined> {
  const { default: swc } = await import('@swc/wasm-typescript')
  try {
    swc.transformSync(readFileSync(file, 'utf8'), { mode: 'transform', filename: file })
  } catch (error) {
    const { startLine, startColumn } = error as { startLine?: number, startColumn?: number }
    return startLine === undefined ? undefined : `line ${startLine}, column ${startColumn ?? '?'}`
  }
  // It can be parsed: perhaps it imports what the other module does not have.
  const [, specifier] = /^The requested module '([^']+)'/.exec(message) ?? []
  const line = lineOfImport(file, name => name === specifier)
  return line === undefined ? undefined : `line ${line}`
}

function decodeText (text: string): string {
  try {
    return decodeURI(text)
  } catch {
    return text
  }
}

const withoutQuery = (place: string): string =>
  place.startsWith('file:') ? fileURLToPath(place) : withoutGeneration(place)
