import type { FastifyInstance } from 'fastify'
import { findSkills, isSkill, type FoundSkill } from './find-skills.js'
import { near } from './plugin-place.js'
import { FileChanges } from './reload/file-changes.js'

/**
 * Serves the skills of these absolute paths. With `reload`, others that come to be are found, and clients hear of
 * changes at once.
 */
export async function loadSkills (app: FastifyInstance, places: readonly string[], reload: boolean): Promise<void> {
  const empty = places.find(place => isSkill(place) && findSkills(place).skills.length === 0)
  if (empty !== undefined) throw new Error(`plugin ${empty}: there is no such file${near(empty)}`)
  await app.mcp.skills.serveFound(findAll(places).skills)
  if (reload && places.length > 0) follow(app, places)
}

function follow (app: FastifyInstance, places: readonly string[]): void {
  const state = { isRunning: false, again: false, isClosed: false }
  const changes = new FileChanges(() => { void look() })
  app.addHook('onReady', async () => changes.watch([], findAll(places).folders))
  app.addHook('onClose', async () => {
    state.isClosed = true
    changes.close()
  })

  async function look (): Promise<void> {
    state.again = true
    if (state.isRunning) return
    state.isRunning = true
    while (state.again && !state.isClosed) {
      state.again = false
      const { skills, folders } = findAll(places)
      await app.mcp.skills.serveFound(skills).catch((err: unknown) => app.log.error({ err }, 'skills cannot be read'))
      if (!state.isClosed) changes.watch([], folders)
    }
    state.isRunning = false
  }
}

/** The skills of all places; a folder that two of them name is one skill. */
function findAll (places: readonly string[]): { skills: FoundSkill[], folders: string[] } {
  const found = places.map(findSkills)
  const skills = new Map(found.flatMap(({ skills }) => skills.map(skill => [skill.folder, skill])))
  return {
    skills: [...skills.values()],
    // A folder for skills may come to be in a folder of plugins.
    folders: [...new Set([...places, ...found.flatMap(({ folders }) => folders)])]
  }
}
