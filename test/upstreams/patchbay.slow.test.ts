import { fileURLToPath } from 'node:url'
import { StreamableHTTPClientTransport as StreamableV2 } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import t, { type Test } from 'tap'
import { connectV2 } from '../clients/client-v2.js'
import levers from '../clients/levers.js'
import type { Official } from '../clients/official.js'
import { play } from '../clients/script.js'
import { connectV1 } from '../clients/sdk-v1.js'
import { COMMAND } from '../support/command.js'
import fixture, { listening } from '../support/gateway.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { inFrontOf } from '../support/upstreams.js'
import oldGateway from './real/old-gateway.js'

type Ways = Record<string, (t: Test, old: boolean) => Promise<object>>

const PLUGINS = ['../support/gateway.js', '../clients/levers.js']

const ways: Ways = {
  stdio: async (_t, old) => {
    const plugins = [...PLUGINS, ...(old ? ['real/old-gateway.js'] : [])].flatMap(file => [
      '--plugin',
      fileURLToPath(new URL(file, import.meta.url))
    ])
    return { command: process.execPath, args: [COMMAND, '--stdio', '--ephemeral', ...plugins] }
  },
  HTTP: async (t, old) => ({ type: 'http', url: `${await serve(t, old)}/mcp` }),
  WebSocket: async (t, old) => ({ type: 'ws', url: `${(await serve(t, old)).replace('http', 'ws')}/mcp` })
}

/** Not through a gateway: the server behind sees the gateway, and the reason of a cancellation is the gateway's. */
const OTHERWISE = ['is seen by the server as it introduced itself', 'cancels a call, and the tool notices']

for (const [way, entryOf] of Object.entries(ways)) {
  for (const old of [false, true]) {
    t.test(`a ${old ? 'stateful' : 'stateless'} gateway behind a gateway over ${way}`, async t => {
      const { app, url } = await inFrontOf(
        t,
        { inner: { ...(await entryOf(t, old)), sampling: true } },
        { limits: { upstreamProbeWait: 10_000 } }
      )
      t.match(app.mcp.upstreams.status(), [{ revision: (old ? newestLegacy : modern).version }])
      const official = await connect(t, `${url}/mcp/inner`, way === 'HTTP' || old)
      await play(
        t,
        official,
        { leave: async (_t, close) => await close() },
        old ? [...OTHERWISE, 'gives a tool its roots'] : OTHERWISE
      )
    })
  }
}

async function serve (t: Test, old: boolean): Promise<string> {
  return (await listening(t, { plugins: [fixture, levers, ...(old ? [oldGateway] : [])], pageSize: 5 })).url
}

async function connect (t: Test, url: string, second: boolean): Promise<Official> {
  if (!second) return await connectV1(t, new StreamableHTTPClientTransport(new URL(url)) as Transport)
  return await connectV2(t, new StreamableV2(new URL(url)), { versionNegotiation: { mode: 'auto' } })
}
