import fp from 'fastify-plugin'
import type { Registry } from '../../protocol/definitions/definition-registry.js'
import type { Resource } from '../../protocol/definitions/resource.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { ResourceRegistry } from '../capabilities/resources/resource-part.js'
import type { View } from '../core/views.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Tools and templates of the gateway itself, listed where another tool needs them. */
    additions: {
      add: (addition: Addition) => void
      /** Settles when they are listed wherever they are needed. */
      settle: () => Promise<void>
      /** True where a client of that view gets the addition's own tool by that name. */
      isListed: (addition: Addition, name: string, view: string | undefined) => boolean
    }
  }
}

/** Tools and a template that are listed in the whole gateway, or in a view, while some tool there needs them. */
export interface Addition {
  /** True for a tool that needs them. */
  readonly isFor: (tool: Tool) => boolean
  /** Loads them with the first such tool, and not again. */
  readonly load: () => Promise<Added>
}

export interface Added { readonly tools: readonly Tool[], readonly template: Resource }

/** The whole gateway or one of its views, and what was added to it for each addition. */
interface Place {
  readonly view: View | undefined
  readonly tools: Pick<Registry<Tool>, 'get' | 'relay' | 'source'>
  readonly resources: Pick<ResourceRegistry, 'replace' | 'remove'>
  readonly shown: Map<Addition, Shown>
}

interface Shown { readonly tools: Map<string, Tool>, template: Resource | undefined }

/** Lists what the gateway adds, in each place where some tool needs it. */
export default fp(
  async fastify => {
    const { mcp, log } = fastify
    const places = new Set<Place>()
    const additions = new Map<Addition, Added | undefined>()

    const renewAll = async (): Promise<void> => {
      for (const addition of additions.keys()) {
        if (additions.get(addition) === undefined && ![...places].some(place => isUsed(place, addition))) continue
        const added = additions.get(addition) ?? await addition.load()
        additions.set(addition, added)
        for (const place of places) renew(place, addition, isUsed(place, addition) ? added : NOTHING)
      }
    }
    // Once for all changes of a turn: a gateway with thousands of tools of its own adds them one by one.
    let isScheduled = false
    const renewSoon = (): void => {
      if (isScheduled) return
      isScheduled = true
      queueMicrotask(() => {
        isScheduled = false
        renewAll().catch(error => log.error(error))
      })
    }
    const follow = ({ tools, resources }: Pick<View, 'tools' | 'resources'>, view: View | undefined): void => {
      // One of the name may have been closed.
      for (const former of places) if (former.view?.name === view?.name) places.delete(former)
      places.add({ view, tools, resources, shown: new Map() })
      tools.source.onChange(renewSoon)
    }

    follow(mcp, undefined)
    mcp.views.onOpen(view => follow(view, view))
    mcp.provide('additions', {
      add: addition => { additions.set(addition, undefined) },
      settle: renewAll,
      isListed: (addition, name, view) => {
        const place = [...places].find(place => place.view?.name === view)
        const ours = place?.shown.get(addition)?.tools.get(name)
        return ours !== undefined && place?.tools.get(name) === ours
      }
    })
  },
  {
    name: 'patchbay-additions',
    dependencies: ['patchbay-mcp', 'patchbay-resources', 'patchbay-tools', 'patchbay-views']
  }
)

const NOTHING = { tools: [], template: undefined }

function isUsed ({ tools }: Place, { isFor }: Addition): boolean {
  for (const tool of tools.source.values()) if (isFor(tool)) return true
  return false
}

function renew (place: Place, addition: Addition, { tools, template }: Added | typeof NOTHING): void {
  const shown = place.shown.get(addition) ?? { tools: new Map<string, Tool>(), template: undefined }
  place.shown.set(addition, shown)
  const names = new Set([...shown.tools.keys(), ...tools.map(({ name }) => name)])
  for (const name of names) renewTool(place, shown, name, tools.find(tool => tool.name === name))
  renewTemplate(place, shown, template)
}

/** Any other tool of the name wins. */
function renewTool ({ view, tools }: Place, shown: Shown, name: string, wanted: Tool | undefined): void {
  const present = tools.get(name)
  const isOurs = present !== undefined && present === shown.tools.get(name)
  const next = wanted === undefined || view?.selection?.excludes('tools', wanted) === true ? undefined : wanted
  if (next === undefined) {
    if (isOurs) tools.relay([present], [])
    shown.tools.delete(name)
  } else if (present === undefined || (isOurs && present.viewScopes !== view?.scopes)) {
    const added = { ...next, viewScopes: view?.scopes }
    shown.tools.set(name, added)
    tools.relay([], [added])
  }
}

/** It wins over a template of an upstream. */
function renewTemplate ({ view, resources }: Place, shown: Shown, wanted: Resource | undefined): void {
  const { template: present } = shown
  const next = wanted === undefined || view?.selection?.excludes('resources', wanted) === true ? undefined : wanted
  if (present !== undefined && (next === undefined || present.viewScopes !== view?.scopes)) {
    resources.remove(present.uri)
    shown.template = undefined
  }
  if (next !== undefined && shown.template === undefined) {
    shown.template = { ...next, viewScopes: view?.scopes }
    resources.replace(shown.template)
  }
}
