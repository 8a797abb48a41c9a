import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { SKILL_FILE } from '../../../protocol/definitions/skill.js'
import type { SkillFolder } from './read-skill.js'
import { SkillFolders, type SkillHost } from './skill-folders.js'

/** A folder with a SKILL.md, and the names of its path below the folder for skills. */
export interface FoundFolder { readonly folder: string, readonly names: readonly string[] }

/** Where a skill is below `skill://`, and the scopes that it requires. */
export interface AddOptions { readonly path?: string, readonly scopes?: readonly string[] }

/** The skills of this gateway itself. */
export class LocalSkills {
  readonly #fastify: FastifyInstance
  readonly #troubles = new Map<string, string>()
  readonly #folders: SkillFolders

  constructor (fastify: FastifyInstance, skills: SkillHost['skills']) {
    this.#fastify = fastify
    const { mcp: { resources }, log } = fastify
    this.#folders = new SkillFolders({
      skills,
      resources,
      report: (folder, why) => this.#report(folder, why),
      warn: sentence => log.warn(sentence)
    })
  }

  /** Serves a folder, and resolves to the URI of its SKILL.md. Rejects with a sentence when it cannot be served. */
  async add (folder: string | URL, { path = '', scopes }: AddOptions = {}): Promise<string> {
    const place = resolve(folder instanceof URL ? fileURLToPath(folder) : folder)
    const uri = uriOf([...path.split('/').filter(name => name !== ''), basename(place)])
    await this.#folders.add({ folder: place, uri, scopes }).catch((error: unknown) => {
      throw new Error(`skill ${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    })
    return uri
  }

  remove (uri: string): boolean {
    return this.#folders.remove(uri)
  }

  /** Serves the folders that were found, and none that was found before and is gone. */
  async serveFound (found: readonly FoundFolder[]): Promise<void> {
    await this.#folders.sync(found.map(({ folder, names }): SkillFolder => ({ folder, uri: uriOf(names) })))
  }

  /** Settles when the folder of a skill was looked at. */
  async renew (uri: string): Promise<void> {
    await this.#folders.renew(uri)
  }

  /** Settles when all folders were looked at. */
  async renewAll (): Promise<void> {
    await this.#folders.renewAll()
  }

  /** Clients may read what `/health` says, so that it names no path. */
  #report (folder: string, why: string | undefined): void {
    if (this.#troubles.get(folder) === why) return
    const { mcp: { health }, log } = this.#fastify
    if (why === undefined) this.#troubles.delete(folder)
    else {
      this.#troubles.set(folder, why)
      log.warn(`skill ${folder} is not served: ${why}`)
    }
    const all = [...this.#troubles.keys()].map(path => basename(path)).join(', ')
    health.report('skills', all === '' ? undefined : `these skills are not served, and the log says why: ${all}`)
  }
}

/** The URI of a skill by the path of its folder below one for skills. */
const uriOf = (names: readonly string[]): string => `skill://${names.map(encodeURIComponent).join('/')}/${SKILL_FILE}`
