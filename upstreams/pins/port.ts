import type { Values } from '../../protocol/store.js'
import type { Offerable, Snapshot } from '../lists/snapshot.js'
import type { ServerEntry } from '../server-entry.js'
import type { Pins, PinLog, PinState } from './pins.js'

/** Lets the gateway hold servers to what was accepted of them. Its code is loaded with the first server that asks. */
export interface PinPort {
  /** Has accepted definitions read from this file in place of the store. Before the first `configure`. */
  keepIn: (file: string) => void
  /** Reads them again; never rejects. */
  reload: () => Promise<void>
  /** Takes over which servers there are. */
  configure: (entries: readonly ServerEntry[]) => Promise<void>
  /**
   * The lists of a server as clients get them; undefined where these are as they were read. The names in those of
   * servers without pins count, too: definitions of others may name them.
   */
  review: (entry: ServerEntry, read: Snapshot) => Promise<Offerable | undefined> | undefined
  /** Sets the function that runs when something else may have been accepted. */
  onChange: (listener: () => void) => void
  /** The state of a server for operators; undefined where nothing was compared. */
  stateOf: (alias: string) => PinState | undefined
  close: () => void
}

/** `report` takes why the accepted definitions cannot be read, or undefined. */
export function createPinPort (values: Values, log: PinLog, report: (why: string | undefined) => void): PinPort {
  let file: string | undefined
  let pins: Pins | undefined
  let changed = (): void => {}
  return {
    keepIn: path => {
      file = path
    },
    reload: async () => await pins?.reload(),
    configure: async entries => {
      if (pins === undefined && entries.every(entry => entry.pins === undefined)) return
      if (pins === undefined) {
        pins = new (await import('./pins.js')).Pins(file === undefined ? { values } : { file }, values, log, report)
        pins.onChange(() => changed())
      }
      await pins.configure(entries)
    },
    review: (entry, read) => pins?.review(entry, read),
    onChange: listener => {
      changed = listener
    },
    stateOf: alias => pins?.stateOf(alias),
    close: () => pins?.close()
  }
}
