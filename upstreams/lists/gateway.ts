import type { Registry } from '../../protocol/definitions/definition-registry.js'
import type { Prompt } from '../../protocol/definitions/prompt.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import type { FindUnlistedSkill, Skill } from '../../protocol/definitions/skill.js'
import type { ServerEntry } from '../server-entry.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { CacheHints } from '../../protocol/revisions/revision.js'
import type { Call } from '../../protocol/dispatch/call.js'

/**
 * Finds a resource that is not listed; with the template of an upstream that matches, only what takes precedence over
 * it.
 */
export type FindUnlisted = (uri: string, call: Call, template?: Resource) => Resource | undefined

/** Tells for the name of a view, or undefined for the whole gateway, if something of an upstream can be in it. */
export type MayShow = (view: string | undefined, upstream: Pick<ServerEntry, 'alias' | 'prefix'>) => boolean

/** A tool that an upstream has, and clients do not get. */
export interface MissingTool {
  readonly upstream: string
  readonly accessName: string
  readonly scopes: readonly string[] | undefined
  readonly why: string
}

/** Where the definitions of upstreams go: those of the gateway, or those of one view. */
export interface Registries {
  readonly tools: Pick<Registry<Tool>, 'relay' | 'limitCaching'>
  readonly prompts: Pick<Registry<Prompt>, 'relay' | 'limitCaching'>
  readonly resources: {
    relay: (removed: readonly Resource[], put: readonly Resource[]) => string[]
    limitCaching: (hints: CacheHints | undefined) => void
    findUnlistedWith: (find: FindUnlisted) => void
  }
  readonly skills: { relay: (removed: readonly Skill[], put: readonly Skill[]) => string[] }
}

export interface ViewRegistries extends Registries {
  instructions: string | undefined
  scopes: readonly string[] | undefined
}

/** Instructions, and what a caller must have been granted to see them. */
export interface Section {
  readonly text: string
  readonly upstream: string
  readonly scopes: readonly string[] | undefined
}

/** The part of the gateway that the lists of upstreams use. */
export interface ListGateway extends Registries {
  readonly tools: Registries['tools'] & {
    /** Sets the function that finds out why there is no tool of a name. */
    explainMissingWith: (explain: (name: string, call: Call) => MissingTool | undefined) => void
  }
  readonly resources: Registries['resources'] & {
    /** Finds what is listed under a URI, or the template that it fits. */
    find: (uri: string) => Resource | undefined
  }
  readonly skills: Registries['skills'] & {
    findUnlistedWith: (find: FindUnlistedSkill) => void
    /** Serves the methods of skills from now on, though none may be listed. */
    serve: () => void
  }
  readonly views: {
    open: (alias: string) => ViewRegistries,
    close: (alias: string) => void,
    /** The view of that name; its selection, where an operator chose what is in it. */
    get: (name: string) => { readonly selection: { readonly hasOwnNames: boolean } | undefined } | undefined
    /** False when nothing of an upstream can be in the view. */
    mayShow: MayShow
    /** Tells that the lists of an upstream were read. */
    noteListsRead: () => void
    /** Texts in values that views fix for tools, as secret as those of an entry; another array when there are more. */
    fixedTexts: () => readonly string[]
  }
  /** Names in the operator's option `scopes`. */
  readonly scopes: { names: () => string[] }
  /** Sets the function that says which callers see less than is configured; undefined when none does. */
  readonly completeness: { checkWith: (isIncomplete: ((call: Call) => boolean) | undefined) => void }
  /** Sets the function that finds the hops which what a caller sees may have come over. */
  readonly hops: { findWith: (find: (call: Call) => string[]) => void }
  /** Sets what `initialize` and `server/discover` say after the operator's own instructions. */
  readonly instructions: { append: (sections: readonly Section[]) => void }
}
