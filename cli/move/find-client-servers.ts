import { existsSync } from 'node:fs'
import { describeForeign } from '../../system/files/own-file.js'
import { Findings } from '../../upstreams/config/findings.js'
import { parseClientText, readClientFile } from '../../upstreams/config/client-file.js'
import { findServers } from '../../upstreams/config/find-servers.js'
import type { FoundServer } from '../../upstreams/config/found-server.js'
import { isObject } from '../../protocol/wire/json.js'
import { SecretHider } from './hide-secrets.js'
import { filesOf, MOVING_CLIENTS, movingClient, type Machine } from './clients.js'

/** A file of a client that is there, and its servers. */
export interface ClientFile {
  /** The name that the commands have for the client. */
  readonly client: string
  readonly title: string
  readonly file: string
  /** True for a file of the project in the working directory. */
  readonly isProject: boolean
  readonly servers: FoundServer[]
  /** Why it cannot be used. */
  readonly problem?: string
}

/** The largest file of a client, in bytes. */
const MAX_FILE = 16 * 1024 * 1024

/** The files of these clients, or of all, that are on a machine. Throws a sentence if there is no such client. */
export async function findClientFiles (names: readonly string[], machine: Machine): Promise<ClientFile[]> {
  const found: ClientFile[] = []
  for (const client of names.length === 0 ? Object.keys(MOVING_CLIENTS) : new Set(names)) {
    const { user, project } = filesOf(movingClient(client), machine)
    for (const file of [...user, ...project].filter(path => existsSync(path))) {
      found.push(await readFileOf(client, file, project.includes(file), machine.home))
    }
  }
  return found
}

/** One file of a client, and its servers. */
export async function readFileOf (
  client: string,
  file: string,
  isProject: boolean,
  home: string | undefined
): Promise<ClientFile> {
  const { title } = movingClient(client)
  const findings = new Findings()
  const options = { home, maxFile: MAX_FILE, onFile: () => {}, findings, describeForeign }
  const servers = await readClientFile(file, options)
  const [problem] = [...findings.mistakes, ...findings.leftOut.flatMap(({ mistakes }) => mistakes)]
  return { client, title, file, isProject, servers, ...problem !== undefined && { problem: problem.text } }
}

/** The values in the servers of a text that look like secrets, also of servers that are skipped. */
export async function secretsIn (file: string, text: string): Promise<string[]> {
  const hider = new SecretHider(() => '')
  try {
    const document = await parseClientText(file, text.replace(/^\uFEFF/, ''))
    for (const { name, values } of findServers(document, { file, folder: '', findings: new Findings() })) {
      if (!isObject(values)) continue
      // Some clients nest what others have beside each other.
      const { command, transport, requestOptions } = values
      for (const part of [values, command, transport, requestOptions]) if (isObject(part)) hider.hide(name, part)
    }
  } catch {
    // Lines of a text that cannot be parsed are hidden by the names in them alone.
  }
  return hider.secrets.map(({ value }) => value)
}
