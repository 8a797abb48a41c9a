import { Type } from '@sinclair/typebox'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { FolderChild, Skill } from '../../../protocol/definitions/skill.js'
import { hintsOf, leastHints } from '../../../protocol/revisions/cache-hints.js'
import { relayed } from '../../../protocol/revisions/relayed.js'
import { errors, shorten, type McpError } from '../../../protocol/wire/errors.js'
import type { Mcp } from '../../core/mcp.js'
import type { LocalSkills } from './local-skills.js'
import type { SkillFinder } from './skill-finder.js'

const ByUri = Type.Object({ uri: Type.String() })
const Folder = Type.Object({ uri: Type.String(), cursor: Type.Optional(Type.String()) })

const NO_FOLDER = 'Not the folder of a skill, or in one'

const unknownSkill = (uri: string, what = 'Unknown skill'): McpError =>
  errors.invalidParams(`${what}: ${shorten(uri)}`)

/** Files change without a word, and a client that keeps a digest would refuse them. */
const LIVE = { ttlMs: 0, cacheScope: 'private' } as const

/** Registers `skills/list`, `skills/get` and `resources/directory/read`. `local` are the skills of this gateway. */
export function serveSkills (
  mcp: Mcp,
  finder: SkillFinder,
  local: LocalSkills,
  pageSize: number
): void {
  const { sealer } = mcp.dispatcher
  mcp.paginate('skills/list', 'skills', view => ({
    page: async (after, size, call) => {
      await local.renewAll()
      const { items, last } = finder.collectionIn(view).page(after, size, (_uri, skill) => finder.isFor(call, skill))
      return { items: items.map(skill => finder.seenIn(view, skill)), last }
    }
  }))

  mcp.method('skills/get', ByUri, async ({ uri }, call, found: Skill | undefined) => {
    if (found === undefined) throw unknownSkill(uri)
    const skill = await presentFor(call, found)
    if (skill === undefined) throw unknownSkill(uri)
    if (skill.relay !== undefined) return relayedSkill(await skill.relay(call.params, call), call)
    return call.revision.cached({ skill: skill.listed }, LIVE)
  }, {
    target: ({ uri }, call) => finder.target(uri, call),
    unknown: ({ uri }) => unknownSkill(String(uri))
  })

  mcp.method('resources/directory/read', Folder, async ({ uri, cursor }, call, found: Skill | undefined) => {
    const skill = found && await presentFor(call, found)
    const children = skill?.childrenOf(uri)
    const after = cursor === undefined ? '' : positionIn(uri, cursor, call, sealer)
    if (skill?.relayFolder !== undefined) {
      const page = await skill.relayFolder(uri, cursor === undefined ? undefined : after, call)
      if (page === undefined) throw unknownSkill(uri, NO_FOLDER)
      return pageOf(uri, page.children, page.nextCursor, call, sealer)
    }
    if (children === undefined) throw unknownSkill(uri, NO_FOLDER)
    const rest = children.filter(child => child.uri > after)
    const resources = rest.slice(0, pageSize)
    const last = rest.length > pageSize ? resources.at(-1)?.uri : undefined
    return pageOf(uri, resources, last, call, sealer)
  }, {
    target: ({ uri }, call) => finder.targetOfFolder(uri, call),
    unknown: ({ uri }) => unknownSkill(String(uri), NO_FOLDER)
  })

  /** A skill as it is now for the clients of a view; a local one may have changed, or be gone. */
  async function presentFor ({ peer: { view } }: Call, skill: Skill): Promise<Skill | undefined> {
    if (skill.relay === undefined) await local.renew(skill.uri)
    const present = skill.relay === undefined ? mcp.skills.get(skill.uri) : skill
    return present && finder.seenIn(view, present)
  }
}

type Sealer = Mcp['dispatcher']['sealer']

function positionIn (uri: string, cursor: string, call: Call, sealer: Sealer): string {
  const after = sealer.open(purpose(uri, call), cursor)
  if (typeof after !== 'string') throw errors.cursorRefused()
  return after
}

/** One page of a folder, with a cursor that leads to what comes after `last`. */
function pageOf (
  uri: string,
  resources: readonly FolderChild[],
  last: string | undefined,
  call: Call,
  sealer: Sealer
): object {
  const nextCursor = last === undefined ? undefined : sealer.seal(purpose(uri, call), last)
  return call.revision.cached({ resources, ...(nextCursor === undefined ? {} : { nextCursor }) }, LIVE)
}

/** A cursor is valid only for the folder, the view and the caller it was made for. */
const purpose = (uri: string, { principal, peer: { view } }: Call): string =>
  JSON.stringify(['resources/directory/read', view ?? null, principal ?? null, uri])

/** The answer of an upstream, of which nothing is kept longer than it allows, and nothing is shared. */
function relayedSkill (result: Record<string, unknown>, { revision }: Call): object {
  const { ttlMs, cacheScope, ...rest } = result
  const hints = hintsOf({ ttlMs, cacheScope }) ?? LIVE
  return revision.cached(relayed.anyResult(rest, revision), leastHints(hints, { ttlMs: Infinity, cacheScope: 'private' }))
}
