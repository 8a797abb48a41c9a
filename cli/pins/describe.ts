import { lineDiff } from '../../lib/line-diff.js'
import { visible } from '../../lib/one-line.js'
import { ALL_KINDS, KINDS } from '../../upstreams/lists/reading/kinds.js'
import type { Definitions } from '../../upstreams/pins/definitions.js'
import { describe, type Change, type Difference } from '../../upstreams/pins/differences.js'
import { findHidden } from '../../upstreams/pins/hidden-characters.js'
import { findOtherTools, type OwnersOfNames } from '../../upstreams/pins/other-tools.js'

/** Counts what is in definitions, in words. */
export function countIn ({ instructions, lists }: Definitions): string {
  const counts = ALL_KINDS
    .filter(kind => lists[kind].size > 0)
    .map(kind => `${lists[kind].size} ${KINDS[kind].noun}${lists[kind].size === 1 ? '' : 's'}`)
  return [...counts, ...(instructions === undefined ? [] : ['instructions'])].join(', ') || 'nothing'
}

/** Lines about differences: everything that changed, or one sentence each. */
export function linesOf (
  alias: string,
  differences: readonly Difference[],
  owners: OwnersOfNames,
  isWhole: boolean
): string[] {
  return differences.flatMap(difference => [
    `  ${isWhole ? headingOf(difference) : describe(difference)}`,
    ...(isWhole ? bodyOf(difference) : []).map(line => `    ${line}`),
    ...marksOf(alias, difference.offered, owners).map(mark => `    warning: ${mark}`)
  ]).map(oneLine)
}

/** Lines about what a reader of definitions does not see, or may not expect. */
export function marksIn (alias: string, { instructions, lists }: Definitions, owners: OwnersOfNames): string[] {
  const entries = ALL_KINDS.flatMap(kind =>
    [...lists[kind]].map(([name, entry]) => [`${KINDS[kind].noun} "${name}"`, entry] as const))
  return [...entries, ['instructions', instructions] as const].flatMap(([thing, offered]) =>
    marksOf(alias, offered, owners).map(mark => oneLine(`${thing}: ${mark}`)))
}

const marksOf = (alias: string, offered: Difference['offered'], owners: OwnersOfNames): string[] =>
  offered === undefined ? [] : [...findHidden(offered), ...findOtherTools(alias, offered, owners)]

/** A line break in the text of a server does not begin a line that looks like ours. */
const oneLine = (line: string): string => visible(line).replaceAll('\n', '\\n')

function headingOf ({ kind, name, what, isBreaking }: Difference): string {
  const thing = kind === 'instructions' ? kind : `${KINDS[kind].noun} ${JSON.stringify(name)}`
  if (what === 'new') return `${thing} is new and was never accepted`
  return `${thing} ${what === 'gone' ? 'is gone' : 'changed'}, ${isBreaking ? 'breaking' : 'harmless to calls'}`
}

function bodyOf ({ what, changes, offered }: Difference): string[] {
  if (what === 'new' && typeof offered === 'object') return JSON.stringify(offered, null, 2).split('\n').map(line => `+ ${line}`)
  return changes.flatMap(change => [
    `${wordOf(change)}: ${change.place} ${change.text}`,
    ...(change.texts === undefined ? [] : diffOf(change.texts)).map(line => `  ${line}`)
  ])
}

const wordOf = ({ isBreaking, texts }: Change): string =>
  isBreaking ? 'breaking' : texts === undefined ? 'harmless' : 'harmless to calls, but models read it'

const diffOf = ([before, after]: readonly [string, string]): string[] =>
  lineDiff(before === '' ? '' : `${before}\n`, after === '' ? '' : `${after}\n`).filter(line => !line.startsWith('@@'))
