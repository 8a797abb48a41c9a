import type { Connection } from '../ports.js'
import type { ServerEntry } from '../server-entry.js'
import { cutInstructions, serverWarnings } from './instructions.js'
import type { ListLimits } from './limits.js'
import { declares, type Entry, type Kind } from './reading/kinds.js'
import { EMPTY, type Snapshot } from './snapshot.js'

const ENTRY: Entry = {
  name: 'sign_in',
  title: 'Sign in',
  description:
    'Signs you in to this server, whose own tools are listed once you have. Asks you to open a page in your browser.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true }
}

/** The lists of a server that each caller signs in to, before any has. */
const UNSIGNED: Snapshot = { ...EMPTY, lists: { ...EMPTY.lists, tools: [ENTRY] } }

/**
 * The part of lists known from before that is shown. Of a server that each caller signs in to that is not what may be
 * of one account; where nothing is known of it, a tool stands for it.
 */
export function shownOf ({ auth }: ServerEntry, known: Snapshot | undefined): Snapshot | undefined {
  if (auth !== 'caller') return known
  if (known === undefined) return UNSIGNED
  return { ...known, lists: { ...known.lists, resources: [], skills: [] }, instructions: undefined }
}

/** True where a tool stands for a server that no caller has signed in to. */
export const isUnsigned = ({ lists }: Snapshot): boolean => lists.tools === UNSIGNED.lists.tools

/** True for that tool, which no option of the entry leaves out. */
export const isSignInEntry = (entry: Entry): boolean => entry === ENTRY

/**
 * False for lists that a server does not have, and for resources and skills of one caller, which are nothing to others.
 */
export const isListed = (kind: Kind, { server: { capabilities } }: Connection, { auth }: ServerEntry): boolean =>
  declares(capabilities, kind) && !(auth === 'caller' && (kind === 'resources' || kind === 'skills'))

/**
 * The instructions of a server, cut to the limit, and sentences about that; none where they may be about the account of
 * one caller.
 */
export function instructionsFor (
  { auth }: ServerEntry,
  { server }: Connection,
  { maxUpstreamInstructions: max }: ListLimits
): { instructions: string | undefined, warnings: string[] } {
  if (auth === 'caller') return { instructions: undefined, warnings: [] }
  return { instructions: cutInstructions(server.instructions, max), warnings: serverWarnings(server, max) }
}
