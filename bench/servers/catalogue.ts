import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Server } from './process.js'

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Where the peers and the charting library are installed, see packages.ts. */
export const PACKAGES = join(ROOT, '.bench')

const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { bin: { patchbay: string } }
export const COMMAND = join(ROOT, bin.patchbay)
const PLUGIN = join(ROOT, 'bench/servers/echo-plugin.mjs')
const SDK = pathToFileURL(join(ROOT, 'bench/servers/tracing-sdk.mjs')).href

const bare = (file: string) => fileURLToPath(new URL(file, import.meta.url))
const peer = (name: string, file: string, ...more: string[]): Server => ({
  name,
  peer: true,
  args: ({ port }) => [join(PACKAGES, file), String(port), ...more]
})

export const bareFastify: Server = { name: 'bare Fastify', args: ({ port }) => [bare('bare-fastify.js'), String(port)] }
/** One that writes a log of requests, as Patchbay does. */
export const loggingFastify: Server = {
  name: 'logging Fastify',
  args: ({ port }) => [bare('bare-fastify.js'), String(port), 'log']
}
export const bareBytes = (file: string): Server => ({
  name: 'bare Fastify',
  args: ({ port }) => [bare('bare-fastify.js'), String(port), file]
})
export const bareWebSocket: Server = {
  name: 'bare @fastify/websocket',
  args: ({ port }) => [bare('bare-websocket.js'), String(port)]
}
export const bareStdio: Server = { name: 'bare splitter', args: () => [bare('bare-stdio.js')] }
export const bareBatches: Server = { name: 'bare batching splitter', args: () => [bare('bare-stdio.js'), 'batch'] }

/** The command as it is installed, with everything that is on by default. */
export const patchbay: Server = {
  name: 'Patchbay',
  args: ({ port, data }) => [COMMAND, '--port', String(port), '--data', data, '--plugin', PLUGIN]
}
export const patchbayStdio: Server = {
  name: 'Patchbay',
  args: ({ data }) => [COMMAND, '--stdio', '--data', data, '--plugin', PLUGIN]
}
/** Patchbay over stdio and HTTP at once. */
export const patchbayBoth = (port: number): Server => ({
  name: 'Patchbay',
  args: ({ data }) => [COMMAND, '--stdio', '--port', String(port), '--data', data, '--plugin', PLUGIN]
})
/** Turns the metrics of a server on or off. */
export const measuring = (server: Server, metrics: boolean): Server => ({
  ...server,
  env: { ...server.env, PATCHBAY_METRICS: String(metrics) }
})
/** Gives a server an OpenTelemetry SDK. */
export const withTraces = (server: Server, sdk: 'no-op' | 'real'): Server => ({
  ...server,
  args: place => ['--import', SDK, ...server.args(place)],
  env: { ...server.env, BENCH_SDK: sdk }
})
/** Patchbay without a plugin of the benchmarks. */
export const patchbayAlone: Server = { name: 'Patchbay', args: ({ data }) => [COMMAND, '--stdio', '--data', data] }

/** Runs a server with the command that was built in another checkout. */
export function fromCheckout (server: Server, checkout: string): Server {
  const command = join(checkout, bin.patchbay)
  return {
    ...server,
    name: basename(checkout),
    build: checkout,
    args: place => server.args(place).map(arg => (arg === COMMAND ? command : arg))
  }
}

export const sdk2 = peer('SDK v2', 'sdk-v2.mjs')
export const sdk2Session = peer('SDK v2', 'sdk-v2.mjs', 'session')
export const sdk2Stdio: Server = { name: 'SDK v2', peer: true, args: () => [join(PACKAGES, 'sdk-v2-stdio.mjs')] }
export const sdk1 = peer('SDK v1', 'sdk-v1.mjs')
export const sdk1Stdio: Server = { name: 'SDK v1', peer: true, args: () => [join(PACKAGES, 'sdk-v1-stdio.mjs')] }
export const fastmcp = peer('fastmcp', 'fastmcp.mjs')
export const fastmcpStdio: Server = { name: 'fastmcp', peer: true, args: () => [join(PACKAGES, 'fastmcp.mjs')] }
export const fastifyMcp = peer('fastify-mcp', 'fastify-mcp.mjs')
/** It has no server of its own: behind it is the splitter. */
export const supergateway: Server = {
  name: 'supergateway',
  peer: true,
  args: ({ port }) => [
    join(PACKAGES, 'node_modules/supergateway/dist/index.js'),
    '--stdio',
    `${process.execPath} ${bare('bare-stdio.js')} batch`,
    '--port',
    String(port),
    '--outputTransport',
    'ws',
    '--messagePath',
    '/mcp',
    '--logLevel',
    'none'
  ]
}
