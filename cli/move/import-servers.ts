import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { visible } from '../../lib/one-line.js'
import { checkReplaceable } from '../../system/files/edit-file.js'
import { quoted, typedCommand } from '../places.js'
import type { Machine } from './clients.js'
import { openConfig, withServers, writeConfig, type ConfigDocument } from './config-document.js'
import type { Entry } from './convert-server.js'
import { describeDifference } from './difference.js'
import { findClientFiles } from './find-client-servers.js'
import { SecretHider, type Secret } from './hide-secrets.js'
import { planImport, type ImportPlan, type PlannedFile, type PlannedServer } from './plan-import.js'

/** The ways to write the secrets of clients: as variables, as files for the user alone, or as they are. */
export const SECRET_WAYS = ['variables', 'files', 'keep'] as const
export type SecretWay = typeof SECRET_WAYS[number]

export interface ImportOptions {
  readonly clients: string[]
  readonly config: string | undefined
  readonly write: boolean
  /** Undefined: asked on a terminal, and variables elsewhere. */
  readonly secrets: SecretWay | undefined
  readonly machine: Machine
  /** True where the output is a terminal. */
  readonly terminal: boolean
  /** True where a person can answer. */
  readonly canAsk: boolean
  readonly print: (text: string) => void
}

/** Takes the servers of clients over into the config file, or says what that would do. */
export async function importServers (options: ImportOptions): Promise<void> {
  const { clients, config, write, machine, terminal, print } = options
  const document = openConfig(config, machine.env, machine.cwd)
  const plan = planImport(await findClientFiles(clients, machine), document, machine.home)
  print(visible(describePlan(plan, clients)))
  if (Object.keys(plan.add).length === 0) {
    print(nothingToAdd(plan, document))
    return
  }
  const found = findSecrets(plan.add)
  const way = options.secrets ?? (write && options.canAsk && found.length > 0 ? await ask(found, document.file) : 'variables')
  const { entries, secrets } = toWritten(plan.add, way, document)
  const after = withServers(document, entries)
  const hidden = { secrets: [...found, ...findSecrets(document.servers)].map(({ value }) => value), terminal }
  print(`${describeDifference(document.file, document.text, after, hidden).join('\n')}\n\n`)
  if (!write) {
    print(describeSecrets(secrets, way, false))
    print(describeNext(plan))
    print(`Nothing was written. To write it: ${typedCommand()} import ${[...clients, '--write'].join(' ')}\n`)
    return
  }
  const isPrivate = way === 'keep' && found.length > 0
  const isClosed = isPrivate && document.opened.bytes !== undefined && (statSync(document.file).mode & 0o077) !== 0
  const backup = writeAll(document, after, way === 'files' ? secrets : [], isPrivate)
  print(`Written: ${document.file}${backup === undefined ? '' : ` (as it was: ${backup})`}\n`)
  if (isClosed) print('It has secrets now, so it and its backup are for you alone to read and write.\n')
  print('A gateway that runs with this file takes the change over by itself.\n\n')
  print(describeSecrets(secrets, way, true))
  print(describeNext(plan))
}

function findSecrets (entries: Readonly<Record<string, Entry>>): Secret[] {
  const hider = new SecretHider(() => '')
  for (const [name, entry] of Object.entries(entries)) hider.hide(name, entry)
  return hider.secrets
}

/** The entries as they are written, and the secrets that are not in them. */
function toWritten (
  add: Readonly<Record<string, Entry>>,
  way: SecretWay,
  { file, text }: ConfigDocument
): { entries: Record<string, Entry>, secrets: Secret[] } {
  if (way === 'keep') return { entries: { ...add }, secrets: [] }
  const named = `${text}${JSON.stringify(add)}`
  const isNamed = (variable: string): boolean => new RegExp(`\\$\\{(env:)?${variable}[:}]`).test(named)
  const hider = way === 'files'
    ? new SecretHider(
      variable => `\${file:${secretFile(file, variable)}}`,
      (variable, value) => !isFreeFile(secretFile(file, variable), value, text)
    )
    : new SecretHider(variable => `\${${variable}}`, isNamed)
  const entries = Object.fromEntries(Object.entries(add).map(([name, entry]) => [name, hider.hide(name, entry)]))
  return { entries, secrets: hider.secrets }
}

const secretFile = (config: string, variable: string): string => join(dirname(config), 'secrets', variable)

/** True for a file that has this secret already, or that is not there and that the config file does not name. */
const isFreeFile = (path: string, value: string, config: string): boolean =>
  existsSync(path) ? readFileSync(path, 'utf8') === `${value}\n` : !config.includes(JSON.stringify(path).slice(1, -1))

/** Writes the secrets, and the config file that names them; if that cannot be written, the new files of secrets go. */
function writeAll (document: ConfigDocument, text: string, secrets: Secret[], isPrivate: boolean): string | undefined {
  checkReplaceable(document.opened)
  const made: string[] = []
  try {
    for (const { variable, value } of secrets) {
      const path = secretFile(document.file, variable)
      if (saveSecret(path, value)) made.push(path)
    }
    return writeConfig(document, text, isPrivate)
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    throw error
  }
}

/** Keeps a secret in a file for the user alone. Returns true if it was not there. Never replaces another secret. */
function saveSecret (path: string, value: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(path, `${value}\n`, { flag: 'wx', mode: 0o600, flush: true })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      rmSync(path, { force: true })
      throw error
    }
    if (!isFreeFile(path, value, '')) throw new Error(`${path} has another secret; nothing was written: try again`, { cause: error })
    chmodSync(path, 0o600)
    return false
  }
}

async function ask (secrets: Secret[], file: string): Promise<SecretWay> {
  const reader = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const names = secrets.map(({ variable }) => variable).join(', ')
    const question =
      `${secrets.length} ${secrets.length === 1 ? 'value looks' : 'values look'} like a secret: ${names}\n` +
      `  f  keep ${secrets.length === 1 ? 'it' : 'each'} in a file that only you can read, in ${join(dirname(file), 'secrets')}\n` +
      '  v  leave it out: set variables of these names where the gateway is started\n' +
      `  k  write it into ${file} as it is\n`
    const answer = (await reader.question(`${question}f, v or k? [v] `)).trim().toLowerCase()
    return answer === 'f' ? 'files' : answer === 'k' ? 'keep' : 'variables'
  } finally {
    reader.close()
  }
}

function describePlan ({ files }: ImportPlan, clients: string[]): string {
  const lines = files.flatMap(({ title, file, servers, problem }) => [
    `${title}: ${file}`,
    ...(problem === undefined ? [] : [`  ! ${problem}`]),
    ...servers.map(describeServer),
    ...(servers.length === 0 && problem === undefined ? ['  no servers'] : []),
    ''
  ])
  const none = clients.length === 0 ? 'No file of a client was found.' : `No file of ${clients.join(', ')} was found.`
  return `${(lines.length === 0 ? [none, ''] : lines).join('\n')}\n`
}

function describeServer ({ name, target, isNew, note, leftOut }: PlannedServer): string {
  const have = leftOut.length === 1 ? 'has' : 'have'
  const fields = leftOut.length === 0 ? '' : `; without ${leftOut.join(', ')}, which ${have} no meaning here`
  if (target === undefined) return `  - ${name}: skipped, because ${note}`
  return isNew
    ? `  + ${name}${target === name ? '' : ` → ${target}`}${note === '' ? '' : `: ${note}`}${fields}`
    : `  = ${name}: ${note}`
}

function nothingToAdd ({ files }: ImportPlan, { file }: ConfigDocument): string {
  return files.length === 0
    ? ''
    : `There is nothing new for ${file}.\n${describeNext({ files, add: {} })}`
}

function describeSecrets (secrets: Secret[], way: SecretWay, isWritten: boolean): string {
  if (secrets.length === 0 || way === 'keep') return ''
  const names = secrets.map(({ variable }) => `  ${variable}\n`).join('')
  return way === 'files'
    ? `Kept in files that only you can read:\n${names}\n`
    : `These values are left out. ${isWritten ? 'Set' : 'You would set'} them as variables where the gateway is started, in a shell or in\n` +
      `"env" of the entry for Patchbay; or import with --secrets files, which keeps them for you:\n${names}\n`
}

/** Says what comes next: a sign-in to servers that want one, and one entry in place of the servers of each client. */
function describeNext ({ files, add }: ImportPlan): string {
  const lines = files
    .map(file => ({ ...file, count: file.servers.filter(({ target }) => target !== undefined).length }))
    .filter(({ count }) => count > 0)
    .map(describeExport)
  const remote = Object.values(add).some(({ url, headers }) => url !== undefined && headers === undefined)
  const signIn = `Servers with a URL may want a sign-in: ${typedCommand()} login says which.\n`
  const exported = `One entry for Patchbay can take the place of what is imported; each command shows it first:\n${lines.join('')}\n`
  return `${remote ? signIn : ''}${lines.length === 0 ? '' : exported}`
}

function describeExport ({ client, file, isProject, count }: PlannedFile & { count: number }): string {
  const where = isProject ? ` --file ${quoted(file)}` : ''
  return `  ${typedCommand()} export ${client}${where}   (${count} ${count === 1 ? 'server' : 'servers'} in ${file})\n`
}
