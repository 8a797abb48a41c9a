import { isDeepStrictEqual } from 'node:util'
import { isReservedPath } from '../../protocol/http/reserved-paths.js'
import { expandVariables, mapTexts, type Variables } from '../../system/variables.js'
import { aliasOf } from '../../upstreams/config/alias.js'
import { MOVING_CLIENTS } from './clients.js'
import type { ConfigDocument } from './config-document.js'
import { convertServer, type Converted, type Entry } from './convert-server.js'
import type { ClientFile } from './find-client-servers.js'
import { SecretHider } from './hide-secrets.js'

/** A server of a client, and what becomes of it. */
export interface PlannedServer {
  readonly name: string
  /** The name under which Patchbay serves it; undefined where it is skipped. */
  readonly target: string | undefined
  /** True where it is new in the config file. */
  readonly isNew: boolean
  /** Says why it is skipped, or what it is the same as, or why it got another name; else empty. */
  readonly note: string
  /** The names of fields that have no meaning for Patchbay. */
  readonly leftOut: readonly string[]
}

/** A file of a client, and what becomes of its servers. */
export interface PlannedFile extends Omit<ClientFile, 'servers'> { readonly servers: PlannedServer[] }

export interface ImportPlan {
  readonly files: PlannedFile[]
  /** The servers that the config file gets, with their secrets. */
  readonly add: Readonly<Record<string, Entry>>
}

interface Taken { readonly name: string, readonly entry: Entry, readonly essence: Entry, readonly from: string }

/** Decides what becomes of each server of the files: taken over, with its own name or another, or skipped. */
export function planImport (files: ClientFile[], document: ConfigDocument, home: string | undefined): ImportPlan {
  const present = new Map(Object.entries(document.servers).map(([name, entry]) => [aliasOf(name), { name, entry }]))
  const taken = new Map<string, Taken>()

  function settle (
    name: string,
    { client, title }: Pick<ClientFile, 'client' | 'title'>,
    { entry, essence, bridge, bridged }: Converted
  ): Omit<PlannedServer, 'name' | 'leftOut'> {
    let other: string | undefined
    const forms = [entry, essence, ...bridged === undefined ? [] : [bridged]]
    for (const target of namesFor(name, client)) {
      const alias = aliasOf(target)
      const there = present.get(alias)
      const planned = taken.get(alias)
      if (there !== undefined && forms.some(each => isSame(there.entry, each))) {
        return { target: there.name, isNew: false, note: `is in the config file already${as(there.name, name)}` }
      }
      if (planned !== undefined && isDeepStrictEqual(planned.essence, essence)) {
        return { target: planned.name, isNew: false, note: `is the same as ${planned.name} of ${planned.from}` }
      }
      if (there === undefined && planned === undefined && !isReservedPath(alias)) {
        taken.set(alias, { name: target, entry, essence, from: title })
        return { target, isNew: true, note: [other, bridge].filter(text => text !== undefined).join('; ') }
      }
      const than = there === undefined ? `that of ${planned?.from ?? 'the gateway'}` : 'the one in the config file'
      other = `is another server than ${than}, so it gets a name of its own`
    }
    return { target: undefined, isNew: false, note: 'has no free name' }
  }

  const plan = files.map(({ servers, ...file }) => ({
    ...file,
    servers: servers.map((server): PlannedServer => {
      const { client, isProject } = file
      const variable = MOVING_CLIENTS[client]?.variable
      const converted = document.mcpConfig.includes(file.file)
        ? { skipped: 'the config file serves this file as a whole (option mcpConfig)' }
        : convertServer(server, { variable, isProject, port: document.port, home })
      if ('skipped' in converted) {
        return { name: server.name, target: undefined, isNew: false, note: converted.skipped, leftOut: [] }
      }
      return { name: server.name, ...settle(server.name, file, converted), leftOut: converted.leftOut }
    })
  }))
  return {
    files: plan,
    add: Object.fromEntries([...taken.values()].map(({ name, entry }) => [name, entry]))
  }
}

const as = (name: string, wanted: string): string => name === wanted ? '' : ` as ${name}`

/** The names under which an import may take a server over. */
export function * namesFor (name: string, client: string): Generator<string> {
  yield name
  yield `${name}-${client}`
  for (let count = 2; count < 100; count++) yield `${name}-${client}-${count}`
}

/** True for entries that differ only in secrets and variables: the config file may have others for them. */
export const isSame = (one: Entry, other: Entry): boolean =>
  isDeepStrictEqual(withoutSecrets(one), withoutSecrets(other))

/**
 * True for entries that are the same with the values of their variables. One that is not known may have any value, but
 * only with `isNamesake`, for servers of one name.
 */
export function isSameAccount (one: Entry, other: Entry, isNamesake: boolean, variables: Variables): boolean {
  const expanded = [one, other].map(entry => mapTexts(entry, text => expandVariables(text, variables, () => {})))
  if (isDeepStrictEqual(expanded[0], expanded[1])) return true
  return isNamesake && isSame(one, other) && mayAgree(expanded[0], expanded[1])
}

/** True where texts are equal, or have a variable without a known value. */
function mayAgree (one: unknown, other: unknown): boolean {
  if (typeof one === 'string' && typeof other === 'string') {
    return one === other || [one, other].some(text => text.includes('${'))
  }
  if (!isContainer(one) || !isContainer(other)) return one === other
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every(name => mayAgree(one[name], other[name]))
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function withoutSecrets (entry: Entry): unknown {
  const hidden = new SecretHider(() => '$' + '{}').hide('', entry)
  return mapTexts(hidden, text => text.replace(/\$\{[^{}]*\}/g, '$' + '{}'))
}
