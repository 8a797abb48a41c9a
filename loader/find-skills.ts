import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { findFiles, isGlob, statOf } from './glob.js'

const SKILL_FILE = 'SKILL.md'
const FOLDER = 'skills'

/** The deepest folder below one for skills that is looked into, and the most folders in all. */
const MAX_DEPTH = 8
const MAX_FOLDERS = 10_000

/** A folder with a SKILL.md, and the names of its path below the folder for skills. */
export interface FoundSkill { readonly folder: string, readonly names: readonly string[] }

/** The skills of a place, and the folders in which others of them may come to be. */
export interface SkillPlaces { readonly skills: FoundSkill[], readonly folders: string[] }

/**
 * Finds the skills of an absolute path: a SKILL.md, a folder that has one, a folder `skills` with folders that have
 * one, or a folder that has a folder `skills` or folders with a SKILL.md in it.
 */
export function findSkills (place: string): SkillPlaces {
  const found: SkillPlaces = { skills: [], folders: [] }
  if (basename(place) === SKILL_FILE) {
    const files = isGlob(place) ? findFiles(place).files : [place]
    for (const folder of files.map(dirname).filter(isSkill)) walk(folder, [basename(folder)], found)
  } else if (isFolder(place)) lookInto(place, found)
  return found
}

/** True for a path that names one skill, and no plugin. */
export const isSkill = (place: string): boolean =>
  basename(place) === SKILL_FILE || statOf(join(place, SKILL_FILE)) !== undefined

function lookInto (place: string, found: SkillPlaces): void {
  if (isSkill(place)) return walk(place, [basename(place)], found)
  if (basename(place) === FOLDER) return walk(place, [], found)
  for (const name of foldersIn(place)) {
    if (name === FOLDER) walk(join(place, name), [], found)
    else if (isSkill(join(place, name))) walk(join(place, name), [name], found)
  }
}

/** Skills may lie in each other: files of the inner one are files of the outer one, too. */
function walk (folder: string, names: readonly string[], found: SkillPlaces): void {
  if (names.length > MAX_DEPTH || found.folders.length >= MAX_FOLDERS) return
  found.folders.push(folder)
  if (names.length > 0 && isSkill(folder)) found.skills.push({ folder, names })
  for (const name of foldersIn(folder)) walk(join(folder, name), [...names, name], found)
}

const isFolder = (path: string): boolean => statOf(path)?.isDirectory() === true

function foldersIn (folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter(name => !name.startsWith('.') && name !== 'node_modules' && isFolder(join(folder, name)))
      .sort()
  } catch {
    return []
  }
}
