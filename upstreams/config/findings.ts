import type { Mistake } from '../../options/mistakes.js'
import { aliasOf } from './alias.js'
import type { FoundServer } from './found-server.js'

/** A server that cannot be used. */
export interface LeftOut {
  readonly name: string
  readonly alias: string
  /** Why, in sentences without secrets. */
  readonly mistakes: Mistake[]
}

/** Mistakes and oddities in the configuration of servers, in the order in which they were found. */
export class Findings {
  /** Mistakes about a whole file. */
  readonly mistakes: Mistake[] = []
  /** The servers that have mistakes. */
  readonly leftOut: LeftOut[] = []
  readonly warnings: string[] = []
  readonly #unused = new Set<string>()

  /** How many mistakes there are in servers. */
  get count (): number {
    return this.leftOut.reduce((sum, { mistakes }) => sum + mistakes.length, 0)
  }

  /** A mistake in a field of a server, which is left out. The text never has a value of the field. */
  mistake (server: FoundServer, field: string, text: string): void {
    this.leaveOut(server.name, {
      path: isOption(server) ? placeOf(server, field).join('.') : '',
      text: `${describe(server, field)} ${text}`
    })
  }

  /** A mistake because of which the server of this name is left out. */
  leaveOut (name: string, mistake: Mistake): void {
    const last = this.leftOut.at(-1)
    if (last?.name === name) last.mistakes.push(mistake)
    else this.leftOut.push({ name, alias: aliasOf(name), mistakes: [mistake] })
  }

  warn (server: FoundServer, field: string, text: string): void {
    this.warnings.push(`${describe(server, field)} ${text}`)
  }

  /** A field that has no meaning here, once for each file. */
  unused (server: FoundServer, field: string, hint: string): void {
    const key = `${server.source}\n${field}`
    if (!this.#unused.has(key)) this.warn(server, field, `has no meaning for Patchbay${hint}`)
    this.#unused.add(key)
  }
}

/** `.mcp.json, line 7: server "files": env.TOKEN`, or `option mcpServers.files.env.TOKEN`. */
function describe (server: FoundServer, field: string): string {
  const place = placeOf(server, field)
  if (isOption(server)) return `option ${place.join('.')}`
  const line = server.lineOf(place)
  return `${server.source}${line === undefined ? '' : `, line ${line}`}: server "${server.name}"${field === '' ? '' : `: ${field}`}`
}

const placeOf = ({ path }: FoundServer, field: string): string[] =>
  field === '' ? [...path] : [...path, ...field.split('.')]

const isOption = ({ source }: FoundServer): boolean => source.startsWith('option ')
