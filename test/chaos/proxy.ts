import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/restarting.js'
import { temporary } from './gateway.js'

/** A proxy between a client and a gateway that cuts idle connections. */
export interface Proxy { name: string, port: number, stop: () => Promise<void> }

/** nginx where it is installed, as it is by default apart from the time; else a few lines that do as much. */
export async function startProxy (to: number, idleMs: number): Promise<Proxy> {
  return spawnSync('nginx', ['-v']).error === undefined ? await nginx(to, idleMs) : await ownProxy(to, idleMs)
}

async function nginx (to: number, idleMs: number): Promise<Proxy> {
  const [folder, port] = [temporary(), await freePort()]
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, port, to, idleMs))
  const child = spawn('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  for (let tries = 0; !await answers(port); tries++) {
    if (tries > 200 || child.exitCode !== null) throw new Error('nginx did not start')
    await sleep(25)
  }
  return { name: 'nginx', port, stop: async () => { child.kill('SIGTERM'); await ended } }
}

const configuration = (folder: string, port: number, to: number, idleMs: number): string => `
daemon off;
master_process off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(kind => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${to};
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_read_timeout ${idleMs}ms;
    }
  }
}`

async function ownProxy (to: number, idleMs: number): Promise<Proxy> {
  const open = new Set<Socket>()
  const server = createServer(client => {
    const upstream = connect(to, '127.0.0.1')
    client.pipe(upstream).pipe(client)
    upstream.setTimeout(idleMs, () => upstream.destroy())
    for (const [one, other] of [[client, upstream], [upstream, client]] as const) {
      open.add(one)
      one.on('error', () => {}).once('close', () => { open.delete(one); other.destroy() })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return { name: 'a proxy of our own', port: (server.address() as AddressInfo).port, stop }
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
