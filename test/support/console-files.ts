import { readFileSync } from 'node:fs'

/** The folder of the built console. */
export const CONSOLE = new URL('../../../dist/console/', import.meta.url)

interface Listed { name: string, file: string, type: string, hash: string }

/** The files of the built console, as the build lists them. */
export const consoleFiles = (): Listed[] => JSON.parse(readFileSync(new URL('files.json', CONSOLE), 'utf8')) as Listed[]

/** The paths at which a gateway serves them. */
export const consolePaths = (): string[] => [
  '/console',
  ...consoleFiles()
    .filter(({ name }) => name !== 'index.html')
    .map(({ name }) => `/console/${name}`)
]
