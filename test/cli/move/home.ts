import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../../../cli/move/clients.js'
import { exportServers, undoExport, type ExportOptions } from '../../../cli/move/export-servers.js'
import { importServers, type ImportOptions } from '../../../cli/move/import-servers.js'
import type { Owner } from '../../support/owner.js'
import { folder } from '../../support/process.js'

const FILES = fileURLToPath(new URL('../../../../test/upstreams/files/', import.meta.url))

/** The text of a file of a client, as the tests of reading have it. */
export const clientText = (path: string): string => readFileSync(join(FILES, path), 'utf8')

/** A home folder with files, and a machine that has it. */
export async function home (t: Owner, files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const place = await folder(t, {})
  const path = (name: string): string => join(place, name)
  for (const [name, text] of Object.entries({ 'work/.keep': '', ...files })) {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), text)
  }
  const machine: Machine = { platform: 'linux', env: { HOME: place, ...env }, home: place, cwd: path('work') }
  return {
    place,
    path,
    machine,
    config: path('.config/patchbay/patchbay.json'),
    text: (name: string): string => readFileSync(path(name), 'utf8'),
    /** Runs `patchbay import`, and gives what it printed. */
    import: async (options: Partial<ImportOptions> = {}): Promise<string> => {
      const printed: string[] = []
      await importServers({
        clients: [],
        config: undefined,
        write: false,
        secrets: undefined,
        machine,
        terminal: false,
        canAsk: false,
        print: text => { printed.push(text) },
        ...options
      })
      return printed.join('')
    },
    copy: (from: string, to: string): void => { cpSync(join(FILES, from), path(to), { recursive: true }) }
  }
}

export type Home = Awaited<ReturnType<typeof home>>

/** The program and the script of the gateway that clients are to launch. */
export const COMMAND = ['/usr/bin/node', '/opt/patchbay/dist/cli.js']

/** Runs `patchbay export`, and gives what it printed. */
export function exporter ({ machine }: Home) {
  const options = (printed: string[]) => ({
    file: undefined,
    config: undefined,
    command: COMMAND,
    write: true,
    machine,
    terminal: false,
    print: (text: string) => { printed.push(text) }
  })
  return {
    export: async (client: string, more: Partial<ExportOptions> = {}): Promise<string> => {
      const printed: string[] = []
      await exportServers({ ...options(printed), client, ...more })
      return printed.join('')
    },
    undo: async (client: string, file?: string, printed: string[] = []): Promise<string> => {
      await undoExport({ ...options(printed), client, file })
      return printed.join('')
    }
  }
}
