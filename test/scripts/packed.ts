import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The folder of the project. */
export const ROOT = new URL('../../../', import.meta.url)

interface Packed { path: string, mode: number, size: number }

/** The files that `npm pack` puts into the package. */
export function packedFiles (): Packed[] {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 25
  })
  return (JSON.parse(report) as Array<{ files: Packed[] }>)[0]?.files ?? []
}

export interface Manifest {
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  exports: { '.': { types: string } }
}

export const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Manifest
