import { didYouMean } from '../../lib/nearest-name.js'
import { visible } from '../../lib/one-line.js'
import { flatten, type Options } from '../../options.js'
import { processSurroundings } from '../../system/environment.js'
import { describeForeign } from '../../system/files/own-file.js'
import { sectionFor } from '../../upstreams/pins/accepted.js'
import { definitionsOf, fingerprintOf, mapKinds, sourceOf, type Definitions, type Section } from '../../upstreams/pins/definitions.js'
import { differencesBetween, type Difference } from '../../upstreams/pins/differences.js'
import type { Lock } from '../../upstreams/pins/lock-text.js'
import { ownersOf, type OwnersOfNames } from '../../upstreams/pins/other-tools.js'
import { readServers, type ServerReading } from '../report/read-servers.js'
import { countIn, linesOf, marksIn } from './describe.js'
import { lockPlaceOf, type LockPlace } from './lock-place.js'

export const ACTIONS = ['list', 'diff', 'accept', 'verify', 'reset'] as const

/** A request of an operator about what is accepted. */
export interface PinRequest {
  readonly action: (typeof ACTIONS)[number]
  /** The alias or the name of the only server that is meant. */
  readonly server: string | undefined
  /** The fingerprint of what the operator read. */
  readonly expect: string | undefined
  /** The lock beside the config file; undefined where the store has what is accepted. */
  readonly lockFile: string | undefined
  readonly locate: (error: Error) => Error
  readonly signal: AbortSignal
}

/** A report for people; incomplete where something is not as it should be. */
interface Report { readonly report: string, readonly isIncomplete: boolean }

/** A server that was read, beside what was accepted of it. */
interface Compared {
  readonly alias: string
  readonly offered: Definitions
  readonly source: string
  readonly isKnown: boolean
  readonly differences: readonly Difference[]
  readonly fingerprint: string
}

/** Does what an operator asks for. Throws a sentence if it cannot be done; nothing is written then. */
export async function managePins (options: Options, request: PinRequest): Promise<Report> {
  const place = lockPlaceOf(options, request.lockFile)
  if (request.action === 'list') return await list(options, place, request)
  if (request.action === 'reset') return await reset(place, request)
  const lock = await place.read()
  const readings = await readServers(options, request)
  const owners = await ownersOf([
    ...readings.map(
      ({ alias, offered }) => [alias, offered?.lists.tools.map(({ name }) => String(name)) ?? []] as const
    ),
    ...[...lock].map(([alias, { lists }]) => [alias, lists.tools.keys()] as const)
  ])
  const aliases = new Set(readings.map(({ alias }) => alias))
  const compared = (await Promise.all(readings.map(async reading => await compare(reading, lock, aliases))))
    .filter(each => each !== undefined)
  const unread = readings.filter(({ state }) => state === 'failed' || state === 'left out').map(describeUnread)
  if (request.action === 'accept') return await accept(place, request, compared, unread, owners)
  return describeAll(request.action, compared, unread, owners)
}

async function compare (
  { alias, entry, offered: read }: ServerReading,
  lock: Lock,
  aliases: ReadonlySet<string>
): Promise<Compared | undefined> {
  if (read === undefined || entry === undefined) return undefined
  const offered = definitionsOf(read)
  const section = sectionFor(lock, entry, aliases)
  return {
    alias,
    offered,
    source: sourceOf(entry),
    isKnown: section !== undefined,
    differences: await differencesBetween(section ?? NOTHING, offered),
    fingerprint: await fingerprintOf(offered)
  }
}

const NOTHING: Definitions = { instructions: undefined, lists: mapKinds(() => new Map()) }

const describeUnread = ({ alias, state, error, warnings }: ServerReading): string =>
  visible(`${alias}: ${state === 'failed' ? `could not be read: ${error}` : `left out of the configuration: ${warnings.join('; ')}`}`)

function describeAll (
  action: 'diff' | 'verify',
  compared: readonly Compared[],
  unread: readonly string[],
  owners: OwnersOfNames
): Report {
  const lines = compared.flatMap(({ alias, offered, isKnown, differences, fingerprint }) => [
    `${alias}: ${summaryOf(offered, isKnown, differences)}, fingerprint ${fingerprint}`,
    ...(isKnown || action === 'diff' ? linesOf(alias, differences, owners, action === 'diff') : [])
  ])
  const isDifferent = compared.some(({ isKnown, differences }) => !isKnown || differences.length > 0)
  return {
    report: textOf([...lines, ...unread]),
    isIncomplete: unread.length > 0 || (action === 'verify' && isDifferent)
  }
}

function summaryOf (offered: Definitions, isKnown: boolean, differences: readonly Difference[]): string {
  if (!isKnown) return `${countIn(offered)}, of which nothing was accepted yet`
  if (differences.length === 0) return `${countIn(offered)}, as accepted`
  const breaking = differences.filter(({ isBreaking }) => isBreaking).length
  const count = `${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`
  return `${count}, ${breaking === 0 ? 'none of them breaking' : `${breaking} breaking`}`
}

const textOf = (lines: readonly string[]): string =>
  lines.length === 0 ? 'No upstream servers are configured.\n' : lines.map(line => `${line}\n`).join('')

async function accept (
  place: LockPlace,
  { server, expect }: PinRequest,
  compared: readonly Compared[],
  unread: readonly string[],
  owners: OwnersOfNames
): Promise<Report> {
  if (unread.length > 0) throw new Error(`nothing was accepted, because not all could be read: ${unread.join('; ')}`)
  const [only] = compared
  if (server !== undefined && only === undefined) throw new Error(`${server} is disabled; nothing was accepted`)
  if (expect !== undefined && only?.fingerprint !== expect) {
    throw new Error(
      `${only?.alias ?? ''} offers something else now: its fingerprint is ${only?.fingerprint ?? ''}, and not ${expect}; nothing was accepted: look at it with patchbay pins diff ${only?.alias ?? ''}`
    )
  }
  const sections = compared.map(({ alias, offered, source }): [string, Section] => [alias, { ...offered, source }])
  if (sections.length > 0) await place.change(new Map(sections))
  const lines = compared.flatMap(({ alias, offered, fingerprint, isKnown, differences }) => [
    `${alias}: accepted ${countIn(offered)}, fingerprint ${fingerprint}`,
    ...(isKnown ? linesOf(alias, differences, owners, false) : marksIn(alias, offered, owners).map(mark => `  warning: ${mark}`))
  ])
  return { report: textOf(lines.length === 0 ? [] : [...lines, `Written to ${place.name}.`]), isIncomplete: false }
}

async function list (options: Options, place: LockPlace, { server }: PinRequest): Promise<Report> {
  const lock = await place.read()
  const { readEntries } = await import('../../upstreams/config/read-entries.js')
  const { entries } = await readEntries(flatten(options), { ...processSurroundings(), describeForeign })
  const configured = new Map(entries.map(entry => [entry.alias, entry]))
  const owners = await ownersOf([...lock].map(([alias, { lists }]) => [alias, lists.tools.keys()]))
  const names = [...new Set([...configured.keys(), ...lock.keys()])]
    .filter(alias => server === undefined || alias === server || configured.get(alias)?.name === server)
    .sort()
  if (server !== undefined && names.length === 0) {
    throw new Error(`there is no server "${server}"${didYouMean(server, [...configured.keys(), ...lock.keys()])}`)
  }
  const lines: string[] = []
  for (const alias of names) {
    const section = lock.get(alias)
    const mode = configured.has(alias) ? `pins: ${configured.get(alias)?.pins ?? 'off'}` : 'not configured'
    if (section === undefined) lines.push(`${alias}: nothing accepted (${mode})`)
    else {
      lines.push(`${alias}: ${countIn(section)}, fingerprint ${await fingerprintOf(section)} (${mode})`)
      lines.push(...marksIn(alias, section, owners).map(mark => `  warning: ${mark}`))
    }
  }
  return { report: textOf(lines.length === 0 ? [] : [...lines, `Accepted in ${place.name}.`]), isIncomplete: false }
}

async function reset (place: LockPlace, { server }: PinRequest): Promise<Report> {
  if (server === undefined) {
    await place.clear()
    return { report: `Nothing is accepted any more in ${place.name}.\n`, isIncomplete: false }
  }
  const lock = await place.read()
  if (!lock.has(server)) throw new Error(`nothing of "${server}" is accepted${didYouMean(server, lock.keys())}`)
  await place.change(new Map([[server, undefined]]))
  return { report: `Nothing of ${server} is accepted any more in ${place.name}.\n`, isIncomplete: false }
}
