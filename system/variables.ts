import { readFileSync, statSync } from 'node:fs'
import { basename, isAbsolute, resolve, sep } from 'node:path'
import type { Environment } from './environment.js'

/** Values of the variables of a configuration. */
export interface Variables {
  readonly env: Environment
  readonly home: string | undefined
  readonly folder: string
  /** The defaults of `${input:…}`, by id. */
  readonly inputs: ReadonlyMap<string, string>
  /** The largest file that `${file:…}` may read, in bytes. */
  readonly maxFile: number
  /** Hears of each file that is read. */
  readonly onFile: (file: string) => void
  /** The text that the program of `${command:…}` printed. Throws a sentence if there is none. */
  readonly command?: (line: string) => string
  /** Hears of each text that came out of a file or program, which is likely a secret. */
  readonly onSecret?: (text: string) => void
}

/** `${…}` and `${{ secrets.… }}`. A `$NAME` without braces belongs to the program that gets it. */
const VARIABLE = /\$\{\{\s*secrets\.(\w+)\s*\}\}|\$\{([^{}]*)\}/g

/**
 * The text with its variables replaced, once. `onMissing` gets a sentence about each that has no value; it never has a
 * value in it.
 */
export function expandVariables (text: string, variables: Variables, onMissing: (sentence: string) => void): string {
  return text.replace(VARIABLE, (whole: string, secret: string | undefined, inner = '') => {
    try {
      return secret === undefined ? valueOf(inner, variables) ?? whole : valueIn(variables.env, secret)
    } catch (error) {
      onMissing((error as Error).message)
      return whole
    }
  })
}

/** A copy of a JSON value whose texts were replaced. */
export function mapTexts (value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map(item => mapTexts(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}

/** True for a JSON value that has `${command:…}` in a text. */
export function hasCommands (value: unknown): boolean {
  let found = false
  mapTexts(value, text => {
    found ||= text.includes('${command:')
    return text
  })
  return found
}

/**
 * Undefined for what is no variable of a client, such as an expression of a shell. Throws a sentence if there is no
 * value.
 */
function valueOf (inner: string, variables: Variables): string | undefined {
  const { env, home, folder } = variables
  switch (inner) {
    case 'userHome': return home ?? fail('uses the variable userHome, but the user has no home folder')
    case 'workspaceFolder': return folder
    case 'workspaceFolderBasename': return basename(folder)
    case 'pathSeparator': case '/': return sep
  }
  const [, kind, rest = ''] = /^([a-z]+):(?!-)(.*)$/is.exec(inner) ?? []
  if (kind === 'input') return inputValue(rest, variables)
  if (kind === 'file') return secret(fileText(rest, variables), variables)
  if (kind === 'command') {
    return secret((variables.command ?? fail(`uses \${${inner}}, which is for servers only`))(rest), variables)
  }
  if (kind !== undefined && kind !== 'env') {
    return fail(`uses \${${inner}}, which only the client knows; write the value, or a variable such as \${NAME}`)
  }
  const [, name, , preset] = /^([A-Za-z_]\w*)(:-(.*))?$/s.exec(kind === 'env' ? rest : inner) ?? []
  return name === undefined ? undefined : valueIn(env, name, preset)
}

function valueIn (env: Environment, name: string, preset?: string): string {
  const value = env[name]
  // As in a shell, `:-` also stands for a variable that is empty.
  if (preset !== undefined) return value === undefined || value === '' ? preset : value
  return value ?? fail(`needs the environment variable ${name}, which is not set`)
}

/** The variable that answers a question a client would put to its user. */
function inputValue (id: string, { env, inputs }: Variables): string {
  const name = `PATCHBAY_INPUT_${id.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}`
  return (
    env[name] ??
    inputs.get(id) ??
    fail(`needs the environment variable ${name} (the client asks its user for "${id}"), which is not set`)
  )
}

function secret (text: string, { onSecret }: Variables): string {
  onSecret?.(text)
  return text
}

function fileText (path: string, variables: Variables): string {
  const { home, folder } = variables
  const file = isAbsolute(path)
    ? path
    : path.startsWith('~/') && home !== undefined
      ? resolve(home, path.slice(2))
      : resolve(folder, path)
  return readText(file, variables).replace(/\r?\n$/, '')
}

/** The text of a file that a configuration refers to. Throws a sentence that names the file if it cannot be read. */
export function readText (file: string, { maxFile, onFile }: Pick<Variables, 'maxFile' | 'onFile'>): string {
  onFile(file)
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isFile() !== true) return fail(`needs the file ${file}, which is not there`)
  if (stats.size > maxFile) {
    return fail(`needs the file ${file}, which is larger than ${maxFile} bytes (limit maxMcpConfig)`)
  }
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    return fail(
      `needs the file ${file}, which cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`
    )
  }
}

function fail (sentence: string): never {
  throw new Error(sentence)
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$/

/**
 * The variables of a file with `NAME=value` on each line. Quotes around a value go, and `#` begins a comment. Throws a
 * sentence at any other line.
 */
export function parseEnvironmentFile (text: string): Record<string, string> {
  const entries = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name === undefined) throw new Error(`refers to a file whose line ${index + 1} is not NAME=value`)
    return [[name, unquote(value)] as const]
  })
  return Object.fromEntries(entries)
}

function unquote (value: string): string {
  const [, quote, inner = ''] = /^(["'`])(.*)\1(?:\s+#.*)?$/.exec(value) ?? []
  if (quote === '"') return inner.replace(/\\([nrt"\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
  return quote === undefined ? value.replace(/\s+#.*$/, '') : inner
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
