import type { FolderChild, Skill, SkillFile } from '../../../protocol/definitions/skill.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { isObject } from '../../../protocol/wire/json.js'

/** A skill without the files that `isOut` is true for: they are in no list of it, and are not read. */
export function withoutFiles (skill: Skill, isOut: (uri: string) => boolean): Skill {
  const { listed, has, childrenOf, relay, relayFolder } = skill

  /** False for a file that is out, and for a folder that has nothing else. */
  const isShown = ({ uri }: FolderChild): boolean => {
    if (isOut(uri)) return false
    const children = childrenOf(uri)
    return children === undefined || children.length === 0 || children.some(isShown)
  }

  return {
    ...skill,
    listed: withShownFiles(listed, isOut) as Skill['listed'],
    has: uri => has(uri) && !isOut(uri),
    childrenOf: uri => {
      const children = isOut(uri) ? undefined : childrenOf(uri)
      const shown = children?.filter(isShown)
      return shown?.length === 0 && children?.length !== 0 ? undefined : shown
    },
    relay: relay && (async (params, call) => {
      const result = await relay(params, call)
      return isObject(result.skill) ? { ...result, skill: withShownFiles(result.skill, isOut) } : result
    }),
    ...(relayFolder !== undefined && {
      relayFolder: async (uri: string, cursor: string | undefined, call: Call) => {
        const page = isOut(uri) ? undefined : await relayFolder(uri, cursor, call)
        return page && { ...page, children: page.children.filter(child => !isOut(child.uri)) }
      }
    })
  }
}

function withShownFiles (entry: Record<string, unknown>, isOut: (uri: string) => boolean): Record<string, unknown> {
  const { resources } = entry
  if (!Array.isArray(resources)) return entry
  return { ...entry, resources: resources.filter((file: SkillFile) => !isObject(file) || !isOut(String(file.uri))) }
}
