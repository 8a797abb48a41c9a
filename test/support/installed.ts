import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { manifest, packedFiles, ROOT } from '../scripts/packed.js'

const PLACE = fileURLToPath(ROOT)

/**
 * A folder with files, in which the package is installed as pnpm does it: with what is packed, and with its
 * dependencies and `peers`, which only it can see. The folder itself sees the package, and `packages` of the checkout.
 */
export async function installed (
  t: Test,
  files: Record<string, string>,
  packages: string[],
  peers: string[] = []
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-installed-'))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  const store = join(folder, 'node_modules', '.pnpm', 'node_modules')
  const shipped = join(store, 'mcp-patchbay')
  for (const { path } of packedFiles()) await cp(join(PLACE, path), join(shipped, path))
  for (const name of [...Object.keys(manifest.dependencies), ...peers]) {
    await link(join(PLACE, 'node_modules', name), join(store, name))
  }
  for (const name of packages) await link(join(PLACE, 'node_modules', name), join(folder, 'node_modules', name))
  await link(shipped, join(folder, 'node_modules', 'mcp-patchbay'))
  for (const [name, source] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), source)
  }
  return folder
}

/** Runs Node.js to its end in a folder. */
export async function runNode (cwd: string, args: string[]): Promise<{ code: number | null, output: string }> {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: cwd }
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>
  ])
  return { code, output: stdout + stderr }
}

/** The compilers that types are tested with, by name. */
export const COMPILERS = {
  'TypeScript 5.9': join(PLACE, 'node_modules', 'typescript', 'bin', 'tsc'),
  'TypeScript 7': join(PLACE, 'node_modules', 'typescript7', 'bin', 'tsc')
}

async function link (target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(target, path, 'dir')
}
