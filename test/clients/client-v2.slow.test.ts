import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { stdio } from './connections.js'
import { modes, playV2, ways } from './ways.js'

for (const mode of Object.keys(modes)) {
  t.test(
    `@modelcontextprotocol/client 2 over stdio, ${mode}`,
    async t => await playV2(t, await stdio(t, StdioClientTransport), mode)
  )
}

for (const [name, playThrough] of Object.entries(ways)) {
  if (name.startsWith('@modelcontextprotocol/client 2')) t.test(name, async t => await playThrough(t))
}
