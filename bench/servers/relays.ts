import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LEGACY, type Era } from '../load/messages.js'
import { COMMAND, PACKAGES, ROOT } from './catalogue.js'
import type { Environment, Server } from './process.js'

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))
const BATCHES = [here('bare-stdio.js'), 'batch']

interface Entry {
  command?: string
  args?: string[]
  env?: Record<string, string>
  url?: string
  start?: 'lazy'
  openapi?: string
  operations?: { methods: string[] }
}

/** The splitter as a server behind a relay, of one era, with so many tools. */
export function splitter (era: Era, tools = 1): Entry {
  return {
    command: process.execPath,
    args: BATCHES,
    env: { BENCH_UPSTREAM_ERA: era === LEGACY ? 'legacy' : '', BENCH_UPSTREAM_TOOLS: String(tools) }
  }
}

/** The echo of a bare server as an HTTP API. */
export const echoApi = (port: number): Entry => ({
  openapi: join(ROOT, 'bench/servers/echo-api.json'),
  url: `http://127.0.0.1:${port}`,
  operations: { methods: ['post'] }
})

/** Patchbay with these servers behind it; the first one is called `up`. */
export function relayOver (transport: 'stdio' | 'http', mcpServers: Record<string, Entry>, name = 'Patchbay'): Server {
  return {
    name,
    args: ({ port, data }) => {
      const config = join(data, 'patchbay.json')
      writeFileSync(config, JSON.stringify({ mcpServers }))
      return [
        COMMAND,
        ...(transport === 'stdio' ? ['--stdio'] : ['--port', String(port)]),
        '--data',
        data,
        '--config',
        config
      ]
    }
  }
}

const env = (era: Era): { env: Environment } => ({ env: { BENCH_UPSTREAM_ERA: era === LEGACY ? 'legacy' : '' } })

export const bareRelay = (era: Era): Server => ({
  name: 'bare relay',
  args: () => [here('relay/bare-stdio.js'), ...BATCHES],
  ...env(era)
})
export const bareHttpRelay = (era: Era): Server => ({
  name: 'bare relay',
  args: ({ port }) => [here('relay/bare-http-stdio.js'), String(port), ...BATCHES],
  ...env(era)
})
export const bareProxy = (upstream: number): Server => ({
  name: 'bare proxy',
  args: ({ port }) => [here('relay/bare-proxy.js'), String(port), String(upstream)]
})

/** Both start the splitter again for each session. */
export const supergatewayHttp: Server = {
  name: 'supergateway',
  peer: true,
  args: ({ port }) => [
    join(PACKAGES, 'node_modules/supergateway/dist/index.js'),
    '--stdio',
    [process.execPath, ...BATCHES].join(' '),
    '--port',
    String(port),
    '--outputTransport',
    'streamableHttp',
    '--stateful',
    '--streamableHttpPath',
    '/mcp',
    '--logLevel',
    'none'
  ],
  ...env(LEGACY)
}
export const mcpProxy: Server = {
  name: 'mcp-proxy',
  peer: true,
  args: ({ port }) => [
    join(PACKAGES, 'node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs'),
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--server',
    'stream',
    '--',
    process.execPath,
    ...BATCHES
  ],
  ...env(LEGACY)
}
