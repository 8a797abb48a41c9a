import { basename, dirname } from 'node:path'

/** Folders in which clients keep the settings of a project. */
const SETTINGS = new Set(['.claude', '.cline', '.codex', '.continue', '.cursor', '.gemini', '.kiro', '.vscode', '.windsurf', '.zed'])

/** How many folders there may be between the file and such a folder, as in `.kiro/settings/mcp.json`. */
const DEEPEST = 2

/** The folder that a configuration file is about: the project around `.vscode/mcp.json`, and otherwise the folder of the file. */
export function workspaceOf (file: string, home: string | undefined): string {
  let folder = dirname(file)
  for (let depth = 0; depth < DEEPEST && folder !== home; depth++) {
    if (SETTINGS.has(basename(folder))) return dirname(folder)
    folder = dirname(folder)
  }
  return dirname(file)
}
