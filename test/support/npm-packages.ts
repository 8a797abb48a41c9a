import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Packages that are kept between runs. */
const KEPT = fileURLToPath(new URL('../../../node_modules/.cache/npm-servers/', import.meta.url))

/** Matches words of npm where the registry cannot be reached. */
export const UNREACHABLE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/

/** The registry of npm cannot be reached. */
export class Unreachable extends Error {}

/**
 * Installs these packages under a name at the first run, without their scripts, while other tests go on; with `before`,
 * what they depend on is as old as that day. Gives the program of a package, by the name that it is installed as.
 * Rejects with `Unreachable` where the registry is.
 */
export async function installPackages (
  name: string,
  packages: readonly string[],
  before?: string
): Promise<(installed: string) => string> {
  const tree = join(KEPT, name)
  const list = join(tree, 'packages.json')
  const wanted = [...(before === undefined ? [] : [`--before=${before}`]), ...packages]
  const isThere = existsSync(list) && readFileSync(list, 'utf8') === JSON.stringify(wanted)
  if (!isThere) {
    mkdirSync(KEPT, { recursive: true })
    const fresh = mkdtempSync(join(KEPT, 'fresh-'))
    const flags = ['--no-save', '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    const npm = promisify(execFile)('npm', ['install', ...flags, '--prefix', fresh, ...wanted], { cwd: fresh, timeout: 600_000 })
    await npm.catch((error: Error) => {
      rmSync(fresh, { recursive: true, force: true })
      throw UNREACHABLE.test(error.message) ? new Unreachable(error.message) : error
    })
    writeFileSync(join(fresh, 'packages.json'), JSON.stringify(wanted))
    rmSync(tree, { recursive: true, force: true })
    renameSync(fresh, tree)
  }
  return installed => {
    const folder = join(tree, 'node_modules', installed)
    const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { bin: string | Record<string, string> }
    return join(folder, typeof bin === 'string' ? bin : Object.values(bin)[0] ?? '')
  }
}
