import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { visible } from '../../lib/one-line.js'
import { newestBackup, openFile, replaceFile, type OpenedFile } from '../../system/files/edit-file.js'
import { stdioEntry } from '../report/clients.js'
import type { StdioEntry } from '../report/client-snippets.js'
import { quoted, typedCommand } from '../places.js'
import { filesOf, movingClient, type Machine, type MovingClient } from './clients.js'
import { openConfig, textOf, type ConfigDocument } from './config-document.js'
import { convertServer, ITSELF, type Entry } from './convert-server.js'
import { describeDifference } from './difference.js'
import { readFileOf, secretsIn } from './find-client-servers.js'
import { editText } from './formats/edit-text.js'
import { isSame, isSameAccount, namesFor } from './plan-import.js'
import { aliasOf } from '../../upstreams/config/alias.js'
import type { Variables } from '../../system/variables.js'
import type { FoundServer } from '../../upstreams/config/found-server.js'

/** The name of the entry for Patchbay. */
const NAME = 'patchbay'

export interface ExportOptions {
  readonly client: string
  /** The file, in place of the one of the user. */
  readonly file: string | undefined
  readonly config: string | undefined
  /** The program, its script and the options of the gateway that the client is to launch. */
  readonly command: string[]
  readonly write: boolean
  readonly machine: Machine
  readonly terminal: boolean
  readonly print: (text: string) => void
}

/** Puts one entry for Patchbay in place of the servers that it serves, or says what that would do. */
export async function exportServers (options: ExportOptions): Promise<void> {
  const { machine, write, terminal, print } = options
  const client = movingClient(options.client)
  const file = fileFor(client, options)
  const document = openConfig(options.config, machine.env, machine.cwd)
  checkConfig(document, file)
  const opened = openFile(file)
  const text = textOf(file, opened)
  const { servers, problem } = opened.bytes === undefined || text.trim() === ''
    ? { servers: [], problem: undefined }
    : await readFileOf(options.client, file, false, machine.home)
  if (problem !== undefined) throw new Error(problem)
  const { rows, remove } = plan(servers, options.client, document, machine)
  const { entry, missing } = entryFor(client, options, document)
  print(visible(`${client.title}: ${file}\n${rows.map(row => `${row}\n`).join('')}\n`))
  const after = await edit(file, text, { root: rootOf(servers) ?? client.root, remove, name: NAME, entry })
  if (after === text) {
    print('There is nothing to change.\n')
    return
  }
  const hidden = { secrets: await secretsIn(file, text), terminal }
  print(`${describeDifference(file, text, after, hidden).join('\n')}\n\n`)
  for (const name of missing) print(`${name} is a secret, and is not written: set it in "env" of the entry.\n`)
  const repeated = [options.client, ...(options.file === undefined ? [] : ['--file', quoted(options.file)])].join(' ')
  if (!write) {
    print(`Nothing was written. To write it: ${typedCommand()} export ${repeated} --write\n`)
    return
  }
  const backup = save(opened, Buffer.from(after))
  print(`Written: ${file}\nAs it was: ${backup}\nTo go back: ${typedCommand()} export ${repeated} --undo\n`)
  print(`Start ${client.title} again, so that it reads the file.\n`)
}

/** Restores the file of a client as it was before the last export, if nothing changed it since. */
export async function undoExport (options: Omit<ExportOptions, 'write' | 'command' | 'config'>): Promise<void> {
  const { terminal, print } = options
  const client = movingClient(options.client)
  const file = fileFor(client, options)
  const opened = openFile(file)
  const { path, bytes } = opened
  if (bytes === undefined) throw new Error(`${file} is not there`)
  const name = backupOf(path, bytes)
  const backup = newestBackup(name)
  if (backup === undefined && existsSync(`${name}${MADE}`)) {
    rmSync(path)
    rmSync(`${name}${MADE}`)
    print(`Removed: ${file}, which the export had made\n`)
    return
  }
  if (backup === undefined) throw new Error(await describeChanged(file, opened, print, terminal))
  replaceFile(opened, readFileSync(backup))
  rmSync(backup)
  print(`Restored: ${file}, byte for byte as it was before the export\n`)
}

/** The end of the name of a backup where the export has made the file. */
const MADE = '.made'

/** The name for backups of files that an export replaced by these bytes; several have a number after it. */
function backupOf (path: string, bytes: Buffer): string {
  return `${path}.${NAME}-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

function save (opened: OpenedFile, bytes: Buffer): string {
  const name = backupOf(opened.path, bytes)
  const mark = `${name}${MADE}`
  const backup = replaceFile(opened, bytes, { backup: basename(name), mark: basename(mark) })
  if (backup === undefined) return 'there was no such file'
  // The file of an earlier export that was made is not this one.
  rmSync(mark, { force: true })
  return backup
}

async function describeChanged (
  file: string,
  { path, bytes = Buffer.alloc(0) }: OpenedFile,
  print: (text: string) => void,
  terminal: boolean
): Promise<string> {
  const folder = dirname(path)
  const [backup] = readdirSync(folder)
    .filter(name => name.startsWith(`${basename(path)}.${NAME}-`) && !name.endsWith(MADE))
    .map(name => join(folder, name))
    .sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)
  if (backup === undefined) return `there is nothing to undo: no backup of an export is beside ${file}`
  const [before, now] = [readFileSync(backup, 'utf8'), bytes.toString()]
  const secrets = [...await secretsIn(file, before), ...await secretsIn(file, now)]
  const difference = describeDifference(file, before, now, { secrets, terminal })
  print(`This is how ${file} differs from what it was before the export:\n${difference.join('\n')}\n\n`)
  return `${file} was changed since the export, and going back would lose that; take what you need from ${backup}`
}

function fileFor (client: MovingClient, { file, machine }: Pick<ExportOptions, 'file' | 'machine'>): string {
  if (file !== undefined) return resolve(machine.cwd, file)
  const { user } = filesOf(client, machine)
  return user.find(path => existsSync(path)) ?? user[0] ?? ''
}

function checkConfig ({ file, servers, mcpConfig }: ConfigDocument, clientFile: string): void {
  if (mcpConfig.includes(clientFile)) {
    throw new Error(
      `Patchbay reads its servers from ${clientFile} (option mcpConfig of ${file}): import them first, and remove it there`
    )
  }
  if (Object.keys(servers).length === 0 && mcpConfig.length === 0) {
    throw new Error(`${file} has no servers yet: take over those of the clients with ${typedCommand()} import --write`)
  }
}

/** The object or list that the file itself has its servers in, besides those of projects. */
const rootOf = (servers: FoundServer[]): readonly string[] | undefined =>
  servers.find(({ path }) => path[0] !== 'projects')?.path.slice(0, -1)

interface Plan { readonly rows: string[], readonly remove: Array<readonly string[]> }

/** Decides which servers of a file go: those that the config file has, and Patchbay itself. */
function plan (
  servers: FoundServer[],
  client: string,
  { file, servers: served, port }: ConfigDocument,
  { env, home }: Machine
): Plan {
  const { variable } = movingClient(client)
  const known: Variables =
    { env, home, folder: dirname(file), inputs: new Map(), maxFile: MAX_SECRET, onFile: () => {} }
  const planned = servers.map(server => {
    const converted = convertServer(server, { variable, isProject: false, port, home })
    if ('skipped' in converted) return { server, isGone: converted.skipped === ITSELF, why: converted.skipped }
    const { entry, essence, bridged } = converted
    const alternatives = [entry, essence, withFolder(entry, server), ...bridged === undefined ? [] : [bridged]]
    const names = new Set([...namesFor(server.name, client)].map(aliasOf))
    const [name] = Object.entries(served).find(([name, entry]) =>
      alternatives.some(each => isSameAccount(entry, each, names.has(aliasOf(name)), known))) ?? []
    if (name === undefined) {
      const isAlike = Object.values(served).some(entry => alternatives.some(each => isSame(entry, each)))
      return { server, isGone: false, why: isAlike ? OTHER_ACCOUNT : UNKNOWN }
    }
    return { server, isGone: true, why: `Patchbay serves it${name === server.name ? '' : ` as ${name}`}` }
  })
  return {
    rows: planned.map(({ server: { name }, isGone, why }) =>
      isGone ? `  - ${name}: ${why}` : `    ${name}: stays, because ${why}`),
    remove: planned.filter(({ isGone }) => isGone).map(({ server }) => server.path)
  }
}

const UNKNOWN = 'Patchbay does not serve it'
const OTHER_ACCOUNT = 'Patchbay serves one like it, but with other secrets, or with secrets that are not known here'
/** The largest file of a secret that is compared, in bytes. */
const MAX_SECRET = 1024 * 1024

/** Files of projects are imported with the folder of the project. */
const withFolder = (entry: Entry, { folder }: FoundServer): Entry =>
  entry['command'] === undefined ? entry : { ...entry, cwd: folder }

/** The entry for Patchbay, and the variables that are not written into it because their values are secrets. */
function entryFor (
  client: MovingClient,
  { command, machine }: ExportOptions,
  { file }: ConfigDocument
): { entry: object, missing: string[] } {
  const words = command.includes('--config') ? command : [...command, '--config', file]
  const { env = {}, ...launch } = stdioEntry(words, machine.env, machine.cwd)
  const variables = Object.entries(env).filter(([name]) => name !== 'PATCHBAY_CONFIG')
  const isPlaceholder = ([, value]: [string, string]): boolean => value.startsWith('<your ')
  const kept = Object.fromEntries(variables.filter(pair => !isPlaceholder(pair)))
  const entry: StdioEntry = { ...launch, ...Object.keys(kept).length > 0 && { env: kept } }
  return { entry: client.entry(entry), missing: variables.filter(isPlaceholder).map(([name]) => name) }
}

async function edit (file: string, text: string, changes: Parameters<typeof editText>[2]): Promise<string> {
  try {
    return await editText(file, text, changes)
  } catch (error) {
    throw new Error(
      `${file} cannot be changed safely, and is as it was: ${(error as Error).message}; edit it by hand: ${typedCommand()} clients prints the entry`,
      { cause: error }
    )
  }
}
