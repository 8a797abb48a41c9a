import type { Call } from '../../../protocol/dispatch/call.js'
import type { Target } from '../../../protocol/dispatch/target.js'
import type { Collection } from '../../../protocol/definitions/collection.js'
import { derive } from '../../../protocol/definitions/derive.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import { SKILL_FILE, SKILL_LIMITS, type FindUnlistedSkill, type Skill } from '../../../protocol/definitions/skill.js'
import type { Mcp } from '../../core/mcp.js'
import type { Selection } from '../../core/views.js'
import { withoutFiles } from './without-files.js'

/** The most folders on the way to a file: the path to a skill has as many at most as the skill itself. */
const MAX_LEVELS = 2 * SKILL_LIMITS.maxDepth

/**
 * Finds skills and their files as the clients of a view see them. A skill is where its SKILL.md is: the same views,
 * scopes, rules and narrowings have both.
 */
export class SkillFinder {
  readonly #mcp: Mcp
  readonly #collectionOf: (view: string | undefined) => Collection<Skill>
  readonly #findUnlisted: FindUnlistedSkill
  /** The resources of skills with the scopes of a view, which are the same for all clients of it. */
  readonly #scoped = new WeakMap<readonly string[], WeakMap<Resource, Resource>>()
  /** Skills as they are in views, by the selections of these. */
  readonly #seen = new WeakMap<Selection, WeakMap<Skill, Skill>>()

  /** `collectionOf` has the skills of the whole gateway, and of the view of each upstream. */
  constructor (
    mcp: Mcp,
    collectionOf: (view: string | undefined) => Collection<Skill>,
    findUnlisted: FindUnlistedSkill
  ) {
    this.#mcp = mcp
    this.#collectionOf = collectionOf
    this.#findUnlisted = findUnlisted
  }

  /** The skills that are in a view, and perhaps others; `isFor` tells which a caller sees. */
  collectionIn (view: string | undefined): Collection<Skill> {
    const isChosen = view !== undefined && this.#mcp.views.get(view)?.selection !== undefined
    return this.#collectionOf(isChosen ? undefined : view)
  }

  /** A skill as the clients of a view see it: without the files that the view excludes. */
  seenIn (view: string | undefined, skill: Skill): Skill {
    const { selection } = view === undefined ? {} : this.#mcp.views.get(view) ?? {}
    const { excludesUri } = selection ?? {}
    if (selection === undefined || excludesUri === undefined) return skill
    const known = this.#seen.get(selection) ?? new WeakMap<Skill, Skill>()
    const seen = known.get(skill) ?? withoutFiles(skill, uri => excludesUri(skill.upstream, uri))
    this.#seen.set(selection, known.set(skill, seen))
    return seen
  }

  /** True for a skill that is in the view of a caller, who may use it. */
  isFor (call: Call, skill: Skill): boolean {
    const resource = this.#resourceIn(call.peer.view, skill)
    return resource !== undefined && this.#mcp.scopes.allows(call, 'resources', resource.uri, resource)
  }

  /** The skill of a URI as the target of a call, listed or not; undefined where there is none. */
  target (uri: unknown, call: Call): Target<Skill> | undefined {
    if (typeof uri !== 'string') return undefined
    const skill = this.collectionIn(call.peer.view).get(uri) ?? this.#findUnlisted(uri, call)
    return skill === undefined ? undefined : this.#targetOf(skill, call)
  }

  /** The innermost skill that a folder is in, as the target of a call. */
  targetOfFolder (uri: unknown, call: Call): Target<Skill> | undefined {
    if (typeof uri !== 'string') return undefined
    for (const skill of this.#skillsAround(call.peer.view, uri)) {
      const target = this.#targetOf(skill, call)
      if (target !== undefined) return target
    }
    return undefined
  }

  /** Reads the file of a skill; undefined where no skill of the view has one of that URI. */
  fileIn (view: string | undefined, uri: string): Resource | undefined {
    if (this.collectionIn(view).size === 0) return undefined
    for (const skill of this.#skillsAround(view, uri.slice(0, Math.max(0, uri.lastIndexOf('/'))))) {
      const resource = this.seenIn(view, skill).has(uri) ? this.#resourceIn(view, skill) : undefined
      if (resource !== undefined) return resource
    }
    return undefined
  }

  #targetOf (skill: Skill, call: Call): Target<Skill> | undefined {
    const resource = this.#resourceIn(call.peer.view, skill)
    const target = resource && this.#mcp.scopes.targetFor('resources', resource.uri, resource, call)
    return target && { ...target, item: skill }
  }

  /** The skills in whose folder a folder is, the innermost first. */
  * #skillsAround (view: string | undefined, folder: string): Generator<Skill> {
    const skills = this.collectionIn(view)
    let path = folder
    for (let level = 0; level < MAX_LEVELS && path !== ''; level++) {
      const skill = skills.get(`${path}/${SKILL_FILE}`)
      if (skill !== undefined) yield skill
      path = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    }
  }

  /** A skill's resource as it is in a view; undefined where it is not, or where another server has its SKILL.md. */
  #resourceIn (view: string | undefined, { uri, upstream, resource }: Skill): Resource | undefined {
    const { selection, scopes, resources } = view === undefined
      ? { ...this.#mcp, selection: undefined, scopes: undefined }
      : this.#mcp.views.get(view) ?? {}
    if (resources === undefined || selection?.includes('resources', resource) === false) return undefined
    const shown = resources.get(uri)
    if (shown !== undefined && shown.upstream !== upstream) return undefined
    return selection === undefined || scopes === undefined ? resource : this.#withScopes(resource, scopes)
  }

  #withScopes (resource: Resource, viewScopes: readonly string[]): Resource {
    const known = this.#scoped.get(viewScopes) ?? new WeakMap<Resource, Resource>()
    const made = known.get(resource) ?? derive(resource, { viewScopes })
    this.#scoped.set(viewScopes, known.set(resource, made))
    return made
  }
}
