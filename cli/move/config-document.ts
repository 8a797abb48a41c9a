import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../protocol/wire/json.js'
import type { Environment } from '../../system/environment.js'
import { openFile, replaceFile, type OpenedFile } from '../../system/files/edit-file.js'
import { parseJsonc } from '../../upstreams/config/formats/jsonc.js'
import { readConfigFile } from '../settings/config-file.js'
import { findConfigFile } from '../settings/read-settings.js'
import { SettingsError } from '../settings/source.js'
import type { Entry } from './convert-server.js'
import { editJsonc } from './formats/jsonc-edit.js'

/** The byte order mark that some editors put before a text. */
const BOM = '\uFEFF'

/** The config file of Patchbay, to be changed. */
export interface ConfigDocument {
  readonly file: string
  readonly opened: OpenedFile
  /** Empty where the file is not there. */
  readonly text: string
  /** The servers as the file has them. */
  readonly servers: Readonly<Record<string, Entry>>
  /** The files of clients whose servers it serves, too. */
  readonly mcpConfig: readonly string[]
  readonly port: number
}

/**
 * Opens the config file that `--config`, the environment or the place of the user names. Throws a sentence if it cannot
 * be read or has a mistake that makes an edit unsafe.
 */
export function openConfig (config: string | undefined, env: Environment, cwd: string): ConfigDocument {
  const { file, isNamed } = findConfigFile(config, env, cwd)
  if (file === undefined) throw new Error('there is no home folder for the config file: name one with --config FILE')
  const opened = openFile(file)
  const text = textOf(file, opened)
  if (text === '') return { file, opened, text, servers: {}, mcpConfig: [], port: DEFAULT_PORT }
  const { mistakes, options } = readConfigFile(file, isNamed)
  if (mistakes.length > 0) throw new SettingsError(mistakes)
  const { mcpServers = {}, port } = parseJsonc(text.replace(BOM, '')).value as Record<string, unknown>
  if (!isObject(mcpServers)) {
    throw new Error(`config file ${file}: mcpServers must be an object with the servers by name`)
  }
  return {
    file,
    opened,
    text,
    servers: mcpServers as Record<string, Entry>,
    mcpConfig: options.mcpConfig ?? [],
    port: typeof port === 'number' ? port : DEFAULT_PORT
  }
}

const DEFAULT_PORT = 8080

/** The text of a file. Throws a sentence if it is not UTF-8, because its bytes could not be kept. */
export function textOf (file: string, { bytes }: OpenedFile): string {
  const text = bytes?.toString('utf8') ?? ''
  if (bytes !== undefined && !Buffer.from(text).equals(bytes)) {
    throw new Error(`${file} is not text in UTF-8; save it as UTF-8 first`)
  }
  return text
}

/** The text of the config file with servers added and removed; everything else is as it was. */
export function withServers (document: ConfigDocument, add: Record<string, Entry>, remove: string[] = []): string {
  const { text, servers } = document
  const [mark, body] = text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text]
  const root = ['mcpServers']
  const changed = mark + editJsonc(body, { remove: remove.map(name => [...root, name]), root, add })
  const wanted = Object.fromEntries(
    Object.entries({ ...servers, ...add }).filter(([name]) => !remove.includes(name))
  )
  const found = parseJsonc(changed.replace(BOM, '')).value as { mcpServers?: unknown }
  if (!isDeepStrictEqual(found.mcpServers ?? {}, wanted)) {
    throw new Error(`${document.file} cannot be changed safely; edit it by hand: mcpServers is what counts`)
  }
  return changed
}

/**
 * Writes the config file; the former one stays beside it, with `.bak` after its name, and a number where there is one
 * already. Returns the path of that. With `isPrivate`, both are for their owner alone.
 */
export function writeConfig ({ opened }: ConfigDocument, text: string, isPrivate = false): string | undefined {
  return replaceFile(opened, Buffer.from(text), { backup: `${basename(opened.path)}.bak`, isPrivate })
}
