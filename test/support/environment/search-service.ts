import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Test } from 'tap'

export interface Service { url: string, requests: string[], connections: Socket[] }

/** A search service on this machine. It remembers who came, and ends with the test. */
export async function service (t: Test, listener: RequestListener): Promise<Service> {
  const requests: string[] = []
  const server = createServer((request, response) => { requests.push(request.url ?? ''); listener(request, response) })
  return { ...await attend(t, server), requests }
}

/** One that always gives the same page. */
export const giving = async (
  t: Test,
  html: string | Buffer,
  status = 200,
  type = 'text/html; charset=UTF-8'
): Promise<Service> =>
  await service(t, (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(html)
  })

export async function attend (t: Test, server: Server): Promise<{ url: string, connections: Socket[] }> {
  const connections: Socket[] = []
  server.on('connection', socket => { connections.push(socket) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of connections) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/html/`, connections }
}
