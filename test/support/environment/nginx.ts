import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { freePort } from '../restarting.js'
import { within } from '../wait.js'
import { TLS } from './tls.js'

const { missing } = await import(new URL('../../../../scripts/test-setup.mjs', import.meta.url).href) as { missing: () => Array<{ program: string }> }

/** For tests that need a real nginx: skipped where there is none. */
export const withNginx = { skip: missing().some(({ program }) => program === 'nginx') && 'not installed: nginx' }

const SITE = readFileSync(new URL('../../../../deploy/nginx.conf', import.meta.url), 'utf8')

/** nginx with deploy/nginx.conf in front of a port. Only its ports, the certificate and the address behind it are changed. It ends with the test. */
export async function startNginx (t: Test, to: string): Promise<{ port: number, securePort: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-nginx-'))
  const [port, securePort] = [await freePort(), await freePort()]
  await Promise.all(Object.entries({ key: TLS.key, cert: TLS.cert, conf: configuration(folder, port, securePort, to) }).map(async ([name, text]) => await writeFile(join(folder, name), text)))
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'conf'), '-e', join(folder, 'error.log')], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await within(60_000, async signal => {
    while (!await answers(port)) {
      if (child.exitCode !== null) throw new Error(`nginx did not start: ${await readFile(join(folder, 'error.log'), 'utf8')}`)
      await sleep(10, undefined, { signal })
    }
  })
  return { port, securePort }
}

function configuration (folder: string, port: number, securePort: number, to: string): string {
  const site = SITE
    .replace('server 127.0.0.1:8080;', `server ${to};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port}; listen 127.0.0.1:${securePort} ssl;`)
    .replace(/(ssl_certificate +).*;/, `$1${folder}/cert;`)
    .replace(/(ssl_certificate_key +).*;/, `$1${folder}/key;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${folder}/${kind};`).join(' ')
  return `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${temporary}\n${site}}\n`
}

async function answers (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const there = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'close').then(() => false)]).catch(() => false)
  socket.destroy()
  return there
}
