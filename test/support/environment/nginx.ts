import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Owner } from '../owner.js'
import { freePort } from '../restarting.js'
import { within } from '../wait.js'
import { TLS } from './tls.js'

const { missing } = (await import(new URL('../../../../scripts/test-setup.mjs', import.meta.url).href)) as {
  missing: () => Array<{ program: string }>
}

/** For tests that need a real nginx: skipped where there is none. */
export const withNginx = { skip: missing().some(({ program }) => program === 'nginx') && 'not installed: nginx' }

const DEPLOY = new URL('../../../../deploy/', import.meta.url)

/** A request that nginx has answered: the nodes that it was sent to, one after the other, and what the client got. */
export interface Served { nodes: string[], status: number, method: string, path: string, session: string }

export interface Nginx {
  port: number
  securePort: number
  /** The requests so far; streams and sockets when they have ended. */
  served: () => Promise<Served[]>
}

/**
 * nginx with deploy/nginx.conf in front of an address, or with deploy/nginx-nodes.conf in front of three. Only its
 * ports, the certificate and the addresses behind it are changed, and what `change` does. It ends with the test.
 */
export async function startNginx (
  t: Owner,
  to: string | string[],
  change = (site: string): string => site
): Promise<Nginx> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-nginx-'))
  const [port, securePort] = [await freePort(), await freePort()]
  const conf = configuration(folder, port, securePort, change(siteFor(to)))
  await Promise.all(
    Object.entries({ key: TLS.key, cert: TLS.cert, conf }).map(
      async ([name, text]) => await writeFile(join(folder, name), text)
    )
  )
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'conf'), '-e', join(folder, 'error.log')], {
    stdio: 'ignore'
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  })
  await within(60_000, async signal => {
    while (!(await answers(port))) {
      if (child.exitCode !== null) {
        throw new Error(`nginx did not start: ${await readFile(join(folder, 'error.log'), 'utf8')}`)
      }
      await sleep(10, undefined, { signal })
    }
  })
  return {
    port,
    securePort,
    served: async () => (await readFile(join(folder, 'access.log'), 'utf8')).split('\n').slice(0, -1).map(parse)
  }
}

function siteFor (to: string | string[]): string {
  if (typeof to === 'string') {
    return readFileSync(new URL('nginx.conf', DEPLOY), 'utf8').replace('server 127.0.0.1:8080;', `server ${to};`)
  }
  return readFileSync(new URL('nginx-nodes.conf', DEPLOY), 'utf8').replace(
    /127\.0\.0\.1:808(\d)/g,
    (_address, number) => to[Number(number) - 1] ?? ''
  )
}

function configuration (folder: string, port: number, securePort: number, site: string): string {
  const local = site
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port}; listen 127.0.0.1:${securePort} ssl;`)
    .replace(/(ssl_certificate +).*;/, `$1${folder}/cert;`)
    .replace(/(ssl_certificate_key +).*;/, `$1${folder}/key;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(kind => `${kind}_temp_path ${folder}/${kind};`)
    .join(' ')
  const log = `log_format served '$status\t$request_method\t$uri\t$http_mcp_session_id\t$arg_sessionid\t$upstream_addr'; access_log ${folder}/access.log served;`
  return `daemon off; master_process off; pid ${folder}/pid; events { worker_connections 8192; }\nhttp { ${log} ${temporary}\n${local}}\n`
}

function parse (line: string): Served {
  const [status = '', method = '', path = '', header = '', query = '', nodes = ''] = line.split('\t')
  return {
    status: Number(status),
    method,
    path,
    session: [header, query].find(id => id !== '-') ?? '',
    nodes: nodes.split(', ')
  }
}

async function answers (port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const there = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'close').then(() => false)
  ]).catch(() => false)
  socket.destroy()
  return there
}
