import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import t from 'tap'
import { stdio } from './connections.js'
import { playV1, ways } from './ways.js'

t.test('@modelcontextprotocol/sdk 1 over stdio', async t => await playV1(t, await stdio(t, StdioClientTransport)))

for (const [name, playThrough] of Object.entries(ways)) {
  if (name.startsWith('@modelcontextprotocol/sdk 1')) t.test(name, async t => await playThrough(t))
}
