import fp from 'fastify-plugin'
import { Collection } from '../../protocol/definitions/collection.js'
import { SKILLS, type FindUnlistedSkill, type Skill } from '../../protocol/definitions/skill.js'
import { LocalSkills, type AddOptions, type FoundFolder } from './skills/local-skills.js'
import { SkillFinder } from './skills/skill-finder.js'
import { serveSkills } from './skills/skill-methods.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The skills of every transport: folders with a SKILL.md, and those of upstreams. */
    skills: SkillRegistry & {
      /**
       * Serves a folder as a skill, `skill://NAME/SKILL.md`, or below a `path` such as `office`. Resolves to the URI;
       * rejects with a sentence when it cannot be served.
       */
      add: (folder: string | URL, options?: AddOptions) => Promise<string>
      /** Removes a skill that was added. */
      remove: (uri: string) => boolean
      get: (uri: string) => Skill | undefined
      uris: () => string[]
      /**
       * Serves the folders that were found, by the names of their paths, and none that was found before and is gone.
       * Mistakes in one are reported.
       */
      serveFound: (found: readonly FoundFolder[]) => Promise<void>
      /** Sets the function that finds skills of upstreams which are not listed. */
      findUnlistedWith: (find: FindUnlistedSkill) => void
      /** Serves the methods of skills from now on, though none may be listed. */
      serve: () => void
    }
  }
}

declare module '../core/views.js' {
  interface View {
    readonly skills: SkillRegistry
  }
}

/** Takes the skills of upstreams. */
export interface SkillRegistry {
  /** Removes and puts skills of an upstream. Local ones of the same URI win, and their URIs are returned. */
  relay: (removed: readonly Skill[], put: readonly Skill[]) => string[]
}

export default fp(async (fastify, { pageSize }: { pageSize: number }) => {
  const { mcp } = fastify
  const { dispatcher } = mcp
  const parts = mcp.views.divide('skills', () => {
    const collection = new Collection<Skill>('skill', dispatcher.observers.reporter('skills'), 'uri')
    return { collection, registry: registryOf(collection), clear: () => collection.clear() }
  })
  const { collection, registry } = parts.whole
  let findUnlisted: FindUnlistedSkill = () => undefined
  let isServed = false
  const local = new LocalSkills(fastify, {
    get: uri => collection.get(uri),
    replace: (uri, skill) => {
      serve()
      collection.replace(uri, skill)
    },
    remove: uri => collection.remove(uri)
  })

  mcp.provide('skills', {
    ...registry,
    add: async (folder, options) => await local.add(folder, options),
    remove: uri => local.remove(uri),
    get: uri => collection.get(uri),
    uris: () => collection.keys(),
    serveFound: async found => await local.serveFound(found),
    findUnlistedWith: find => { findUnlisted = find },
    serve
  })

  function registryOf (collection: Collection<Skill>): SkillRegistry {
    return {
      relay: (removed, put) => {
        if (put.length > 0) serve()
        return collection.relay(
          removed.map(({ uri }) => uri),
          put.map(item => ({ key: item.uri, item, spellings: item.spellings }))
        )
      }
    }
  }

  /** Registers the methods, and declares the extension, with the first skill. */
  function serve (): void {
    if (isServed) return
    isServed = true
    const finder = new SkillFinder(mcp, view => parts.of(view).collection, (uri, call) => findUnlisted(uri, call))
    mcp.resources.findPartsWith((view, uri) => finder.fileIn(view, uri))
    serveSkills(mcp, finder, local, pageSize)
    dispatcher.capabilities.declareOfficial(SKILLS, { directoryRead: true })
  }
}, { name: 'patchbay-skills', dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-pagination', 'patchbay-resources', 'patchbay-scopes', 'patchbay-views'] })
