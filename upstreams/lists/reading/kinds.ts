import { SKILLS } from '../../../protocol/definitions/skill.js'
import { isObject } from '../../../protocol/wire/json.js'

/** A tool, prompt, resource, template or skill as an upstream listed it. */
export type Entry = Readonly<Record<string, unknown>>

export type Kind = 'tools' | 'prompts' | 'resources' | 'templates' | 'skills'

export interface KindOfList {
  /** The name of one entry in messages. */
  readonly noun: string
  readonly method: string
  /** The member of the result that has the entries. */
  readonly member: string
  /** The member of an entry that names it. */
  readonly key: string
  /** The capability of a server that has the list. */
  readonly capability: string
  /** The extension of the protocol that the server has to declare, too. */
  readonly extension?: string
  /** The notification that the list changed. */
  readonly changed: string
}

/** The lists of a server. */
export const KINDS: Readonly<Record<Kind, KindOfList>> = {
  tools: {
    noun: 'tool',
    method: 'tools/list',
    member: 'tools',
    key: 'name',
    capability: 'tools',
    changed: 'notifications/tools/list_changed'
  },
  prompts: {
    noun: 'prompt',
    method: 'prompts/list',
    member: 'prompts',
    key: 'name',
    capability: 'prompts',
    changed: 'notifications/prompts/list_changed'
  },
  resources: {
    noun: 'resource',
    method: 'resources/list',
    member: 'resources',
    key: 'uri',
    capability: 'resources',
    changed: 'notifications/resources/list_changed'
  },
  templates: {
    noun: 'resource template',
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    capability: 'resources',
    changed: 'notifications/resources/list_changed'
  },
  // Each is a resource, too, and there is no notification of their own.
  skills: {
    noun: 'skill',
    method: 'skills/list',
    member: 'skills',
    key: 'uri',
    capability: 'resources',
    extension: SKILLS,
    changed: 'notifications/resources/list_changed'
  }
}

export const ALL_KINDS = Object.keys(KINDS) as readonly Kind[]

/** True for a server that declares that it has such a list. */
export function declares (capabilities: Readonly<Record<string, unknown>>, kind: Kind): boolean {
  const { capability, extension } = KINDS[kind]
  const { extensions } = capabilities
  return capabilities[capability] !== undefined &&
    (extension === undefined || (isObject(extensions) && extensions[extension] !== undefined))
}
