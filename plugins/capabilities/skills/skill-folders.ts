import type { Resource } from '../../../protocol/definitions/resource.js'
import { folderOf, type Skill } from '../../../protocol/definitions/skill.js'
import type { Collection } from '../../../protocol/definitions/collection.js'
import type { ReadSkill, SkillFolder } from './read-skill.js'
import { SkillError } from './skill-error.js'

/** Where skills go, and what is told of those that are not served. */
export interface SkillHost {
  readonly skills: Pick<Collection<Skill>, 'get' | 'replace' | 'remove'>
  readonly resources: {
    get: (uri: string) => Resource | undefined
    replace: (resource: Resource) => void
    remove: (uri: string) => boolean
    updated: (uri: string) => void
  }
  /** Takes why the skill of a folder is not served, or undefined when it is. */
  readonly report: (folder: string, why: string | undefined) => void
  /** Takes a sentence about a skill that is served. */
  readonly warn: (sentence: string) => void
}

interface Place {
  readonly folder: SkillFolder
  /** True for one that was found, and is gone when it is not found any more. */
  readonly isFound: boolean
  read?: ReadSkill | undefined
  leftOut: string
  running?: Promise<void> | undefined
  next?: Promise<void> | undefined
}

/** The folders that are served as skills. They are read again before they are listed, so that digests are true. */
export class SkillFolders {
  readonly #host: SkillHost
  readonly #places = new Map<string, Place>()

  constructor (host: SkillHost) {
    this.#host = host
  }

  /** Serves a folder. Rejects with a SkillError where that cannot be done. */
  async add (folder: SkillFolder): Promise<void> {
    if (this.#places.has(folder.uri)) throw new SkillError(`there is a skill ${folder.uri} already`)
    const place: Place = { folder, isFound: false, leftOut: '' }
    this.#places.set(folder.uri, place)
    try {
      await this.#read(place)
    } catch (error) {
      this.#places.delete(folder.uri)
      throw error
    }
  }

  /** Serves what was found, and nothing that was found before and is gone. What cannot be served is reported. */
  async sync (found: readonly SkillFolder[]): Promise<void> {
    const uris = new Map(found.map(folder => [folder.uri, folder]))
    for (const [uri, { isFound, folder }] of this.#places) {
      if (isFound && uris.get(uri)?.folder !== folder.folder) this.remove(uri)
    }
    for (const folder of found) {
      const known = this.#places.get(folder.uri)
      if (known !== undefined && known.folder.folder !== folder.folder) {
        this.#host.report(folder.folder, `there is a skill ${folder.uri} already, in ${known.folder.folder}`)
      } else if (known === undefined) {
        this.#places.set(folder.uri, { folder, isFound: true, leftOut: '' })
      }
    }
    await this.renewAll()
  }

  remove (uri: string): boolean {
    const place = this.#places.get(uri)
    if (place === undefined) return false
    this.#places.delete(uri)
    this.#withdraw(place)
    this.#host.report(place.folder.folder, undefined)
    return true
  }

  /** Settles when all folders were looked at after this call. */
  async renewAll (): Promise<void> {
    for (const uri of [...this.#places.keys()]) await this.renew(uri)
  }

  /** Settles when the folder of a skill was looked at after this call; calls that come meanwhile share one look. */
  async renew (uri: string): Promise<void> {
    const place = this.#places.get(uri)
    if (place === undefined) return
    if (place.running === undefined) return await this.#look(place)
    place.next ??= place.running.then(async () => {
      place.next = undefined
      await this.#look(place)
    })
    await place.next
  }

  async #look (place: Place): Promise<void> {
    place.running = this.#read(place).then(
      () => this.#host.report(place.folder.folder, undefined),
      (error: unknown) => {
        this.#withdraw(place)
        const code = error instanceof SkillError ? undefined : (error as NodeJS.ErrnoException).code ?? 'unexpected'
        this.#host.report(place.folder.folder, code === undefined
          ? (error as Error).message
          : `it cannot be read (${code})`)
      }
    ).finally(() => { place.running = undefined })
    await place.running
  }

  async #read (place: Place): Promise<void> {
    const { readSkill } = await import('./read-skill.js')
    const former = place.read
    const read = await readSkill(place.folder, former)
    // It may have been removed meanwhile.
    if (this.#places.get(place.folder.uri) !== place) return
    const { uri } = place.folder
    const present = this.#host.resources.get(uri)
    if (present !== undefined && present !== former?.skill.resource && present.upstream === undefined) {
      throw new SkillError(`there is a resource ${uri} already`)
    }
    place.read = read
    this.#warnOfLeftOut(place, read)
    if (read.skill !== former?.skill) this.#serve(read.skill, former?.skill)
  }

  #serve (skill: Skill, former: Skill | undefined): void {
    this.#host.resources.replace(skill.resource)
    this.#host.skills.replace(skill.uri, skill)
    for (const uri of changedFiles(skill, former)) this.#host.resources.updated(uri)
  }

  #withdraw (place: Place): void {
    const { skill } = place.read ?? {}
    place.read = undefined
    if (skill === undefined) return
    if (this.#host.skills.get(skill.uri) === skill) this.#host.skills.remove(skill.uri)
    if (this.#host.resources.get(skill.uri) === skill.resource) this.#host.resources.remove(skill.uri)
  }

  #warnOfLeftOut (place: Place, { hashed: { leftOut } }: ReadSkill): void {
    const names = leftOut.join(', ')
    if (names !== place.leftOut && names !== '') {
      this.#host.warn(
        `skill ${folderOf(place.folder.uri)} is served without ${names}: links, and files that cannot be read, are no part of a skill`
      )
    }
    place.leftOut = names
  }
}

/** The URIs of files that both have, and that are not the same. */
function changedFiles ({ listed: { resources } }: Skill, former: Skill | undefined): string[] {
  const before = former?.listed.resources ?? []
  if (before === 'dynamic' || resources === 'dynamic') return []
  const digests = new Map(before.map(({ uri, digest }) => [uri, digest]))
  return resources.filter(({ uri, digest }) => (digests.get(uri) ?? digest) !== digest).map(({ uri }) => uri)
}
