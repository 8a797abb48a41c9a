import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { tree } from '../support/environment/tree.js'

/** What is in every file outside the folder. */
export const FOREIGN = 'FOREIGN BYTES'

/** `root` with everything in it that could lead out, beside files that no client may see. */
export async function hostileTree (t: Test): Promise<{ base: string, root: string }> {
  const base = await tree(t, {
    'served/inside.txt': 'inside',
    'served/sub/deep.txt': 'deep',
    'served/a%2fb.txt': 'literal',
    'secret.txt': FOREIGN,
    'secrets/key.txt': FOREIGN,
    'served-evil/inside.txt': FOREIGN,
    'SERVED/inside.txt': FOREIGN
  })
  const root = join(base, 'served')
  for (const [name, target] of Object.entries(links(base))) await symlink(target, join(root, name))
  await promisify(execFile)('mkfifo', [join(root, 'pipe')])
  const server = createServer().listen(join(root, 'socket'))
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  await mkdir(join(root, 'empty'))
  await writeFile(join(root, 'sub', '..%2f..%2fsecret.txt'), 'an odd name')
  return { base, root }
}

const links = (base: string): Record<string, string> => ({
  'file-relative': '../secret.txt',
  'file-absolute': join(base, 'secret.txt'),
  'folder-relative': '../secrets',
  'folder-absolute': join(base, 'secrets'),
  'chain-1': 'chain-2',
  'chain-2': 'chain-3',
  'chain-3': '../secret.txt',
  'folder-chain': 'folder-relative',
  circle: 'circle',
  'circle-1': 'circle-2',
  'circle-2': 'circle-1',
  dangling: '../nothing',
  up: '..',
  self: '.',
  evil: '../served-evil',
  slash: '/',
  zero: '/dev/zero',
  process: '/proc/self',
  'good-file': 'sub/deep.txt',
  'good-folder': 'sub',
  'good-absolute': join(base, 'served', 'inside.txt'),
  'out-and-in': '../served/inside.txt'
})

/** URIs that must look as if there were nothing, given the path of the folder and of what it is in. */
export const hostileUris = (base: string): string[] => {
  const root = `file://${base}/served`
  return [
    `${root}/../secret.txt`,
    `${root}/../served-evil/inside.txt`,
    `${root}/sub/../../secret.txt`,
    `${root}/sub/../inside.txt`,
    `${root}/./inside.txt`,
    `${root}/.`,
    `${root}/..`,
    `${root}/%2e%2e/secret.txt`,
    `${root}/%2E%2E/secret.txt`,
    `${root}/.%2e/secret.txt`,
    `${root}/%2e%2e%2fsecret.txt`,
    `${root}/..%2fsecret.txt`,
    `${root}/sub%2f..%2f..%2fsecret.txt`,
    `${root}/sub%2fdeep.txt`,
    `${root}/%252e%252e/secret.txt`,
    `${root}/%252e%252e%252fsecret.txt`,
    `${root}/..%252fsecret.txt`,
    `${root}/..%c0%afsecret.txt`,
    `${root}/..\\secret.txt`,
    `${root}/..%5csecret.txt`,
    `${root}/..%255csecret.txt`,
    `${root}/sub\\deep.txt`,
    `${root}/inside.txt%00`,
    `${root}/inside.txt%00.png`,
    `${root}/%00/../secret.txt`,
    `${root}/inside.txt\u0000`,
    `${root}//inside.txt`,
    `${root}//etc/passwd`,
    `${root}/${base}/secret.txt`,
    `${root}/%2fetc%2fpasswd`,
    `${root}/inside.txt/`,
    `${root}/inside.txt/../../secret.txt`,
    `${root}/inside.txt?`,
    `${root}/inside.txt?x=1`,
    `${root}/inside.txt#top`,
    `${root}/inside.txt%`,
    `${root}/inside.txt%2`,
    `${root}/`,
    root,
    `${root}/sub`,
    `${root}/empty`,
    `${root}/missing.txt`,
    `${root}/missing/inside.txt`,
    `${root}/file-relative`,
    `${root}/file-absolute`,
    `${root}/folder-relative/key.txt`,
    `${root}/folder-absolute/key.txt`,
    `${root}/folder-absolute/missing.txt`,
    `${root}/folder-chain/key.txt`,
    `${root}/chain-1`,
    `${root}/circle`,
    `${root}/circle-1`,
    `${root}/dangling`,
    `${root}/up/secret.txt`,
    `${root}/up/served-evil/inside.txt`,
    `${root}/self`,
    `${root}/evil/inside.txt`,
    `${root}/slash/etc/passwd`,
    `${root}/zero`,
    `${root}/process/environ`,
    `${root}/pipe`,
    `${root}/socket`,
    `${root}-evil/inside.txt`,
    `file://${base}/secret.txt`,
    `file://${base}/SERVED/inside.txt`,
    `FILE://${base}/served/inside.txt`,
    `file:${base}/served/inside.txt`,
    `file:/${base}/served/inside.txt`,
    `file:///${base}/served/inside.txt`,
    `file://evil.example${base}/served/inside.txt`,
    `file://user@localhost${base}/served/inside.txt`,
    `file://localhost:80${base}/served/inside.txt`,
    `file://127.0.0.1${base}/served/inside.txt`,
    `http://localhost${base}/served/inside.txt`,
    `${base}/served/inside.txt`,
    `${root}/${'a/'.repeat(300)}x`,
    `${root}/${'a'.repeat(300)}`,
    `${root}/${'../'.repeat(600)}etc/passwd`,
    `${root}/${'a'.repeat(100_000)}`
  ]
}
