import { stat, readFile } from 'node:fs/promises'
import { basename, dirname, extname } from 'node:path'
import { hasCommands } from '../../system/variables.js'
import { findServers } from './find-servers.js'
import type { Findings } from './findings.js'
import { DocumentError, type Document } from '../../system/documents/document.js'
import type { FoundServer } from './found-server.js'

interface ReadOptions {
  readonly home: string | undefined
  /** The largest file, in bytes. */
  readonly maxFile: number
  readonly onFile: (file: string) => void
  readonly findings: Findings
  /** Says why a file is not the operator's own. */
  readonly describeForeign: (file: string, home: string | undefined) => string | undefined
}

/** The servers of a configuration file of a client, in the client's own form. */
export async function readClientFile (
  file: string,
  { home, maxFile, onFile, findings, describeForeign }: ReadOptions
): Promise<FoundServer[]> {
  onFile(file)
  try {
    const document = await parseClientText(file, await read(file, maxFile))
    const servers = findServers(document, { file, folder: workspaceOf(file, home), findings })
    const foreign = servers.some(({ values }) => hasCommands(values)) ? describeForeign(file, home) : undefined
    return foreign === undefined ? servers : servers.map(server => ({ ...server, foreign }))
  } catch (error) {
    const line = error instanceof DocumentError && error.line !== undefined ? `, line ${error.line}` : ''
    findings.mistakes.push({ path: '', text: `${file}${line}: ${reasonOf(error as NodeJS.ErrnoException)}` })
    return []
  }
}

async function read (file: string, maxFile: number): Promise<string> {
  const stats = await stat(file)
  if (!stats.isFile()) throw new Error('this is not a file')
  if (stats.size > maxFile) throw new Error(`it has more than ${maxFile} bytes (limit maxMcpConfig)`)
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  if (text.includes('\0')) throw new Error('it is not text in UTF-8; save it as UTF-8')
  if (text.trim() === '') throw new Error('it is empty')
  return text
}

/** Parses the text of a client's file, whose name says in which format it is. Throws a DocumentError. */
export async function parseClientText (file: string, text: string): Promise<Document> {
  switch (extname(file).toLowerCase()) {
    case '.toml': return (await import('./formats/toml.js')).parseToml(text)
    case '.yaml': case '.yml': return (await import('../../system/documents/yaml.js')).parseYaml(text)
    default: return (await import('./formats/jsonc.js')).parseJsonc(text)
  }
}

function reasonOf (error: NodeJS.ErrnoException): string {
  // The stack is not deep enough for it.
  if (error instanceof RangeError) return 'it is nested too deeply'
  if (error.code === 'ENOENT') return 'there is no such file'
  return error.code === 'EACCES' ? 'this user may not read it' : error.message.split('\n')[0] ?? ''
}

/** Folders in which clients keep the settings of a project. */
const SETTINGS = new Set([
  '.claude',
  '.cline',
  '.codex',
  '.continue',
  '.cursor',
  '.gemini',
  '.kiro',
  '.vscode',
  '.windsurf',
  '.zed'
])

/** How many folders there may be between the file and such a folder, as in `.kiro/settings/mcp.json`. */
const DEEPEST = 2

/**
 * The folder that a configuration file is about: the project around `.vscode/mcp.json`, and otherwise the folder of the
 * file.
 */
function workspaceOf (file: string, home: string | undefined): string {
  let folder = dirname(file)
  for (let depth = 0; depth < DEEPEST && folder !== home; depth++) {
    if (SETTINGS.has(basename(folder))) return dirname(folder)
    folder = dirname(folder)
  }
  return dirname(file)
}
