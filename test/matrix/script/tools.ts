import type { Json } from '../../support/specification/message.js'
import type { Chapter } from '../cell.js'
import { listAll } from './pagination.js'

interface Block { type: string, annotations?: Json, [more: string]: unknown }

/** Tools: how they are listed, called, and shown to clients that know less. */
export const tools: Record<string, Chapter> = {
  'gives text, and structured content to clients that know it': async (t, { client, revision }) => {
    const { result = {} } = await client.call('echo', { text: 'héllo "1" 😀' })
    t.strictSame(result.content, [{ type: 'text', text: 'héllo "1" 😀' }])
    t.strictSame(result.structuredContent, revision.titles ? { text: 'héllo "1" 😀' } : undefined)
    t.notOk('isError' in result && result.isError)
  },

  'lists of a tool only what the revision knows': async (t, { client, revision }) => {
    const tool = (await listAll(client, 'tools/list', 'tools')).find(({ name }) => name === 'decorated') ?? {}
    t.strictSame(Object.keys(tool).sort(), [
      ...(revision.titles ? ['_meta'] : []),
      ...(revision.audio ? ['annotations'] : []),
      'description',
      ...(revision.icons ? ['icons'] : []),
      'inputSchema',
      'name',
      ...(revision.titles ? ['outputSchema', 'title'] : [])
    ])
  },

  'shows a block that the revision does not know as one that it knows': async (t, { client, revision }) => {
    const { result = {} } = await client.call('every_block')
    const types = (result.content as Block[]).map(({ type }) => type)
    t.strictSame(types, [
      'text',
      'image',
      revision.audio ? 'audio' : 'resource',
      'resource',
      revision.titles ? 'resource_link' : 'text'
    ])
    const shown = JSON.stringify(result)
    t.match(shown, 'test://text', 'a link is still there to be read')
    t.match(shown, 'AAAA', 'and so is sound')
    if (!revision.audio) t.notMatch(shown, '"audio"')
  },

  'puts on a block only what the revision knows': async (t, { client, revision }) => {
    const { result = {} } = await client.call('decorated_blocks')
    const shown = JSON.stringify(result.content)
    const [text] = result.content as Block[]
    t.match(text?.annotations, { audience: ['user'], priority: 0.5 })
    for (const later of ['"lastModified"', 'example.com/hidden', '"title"']) {
      t.equal(shown.includes(later), revision.titles, later)
    }
  },

  'refuses arguments the schema does not allow, in the way the revision has for it': async (
    t,
    { client, revision }
  ) => {
    for (const args of [{ text: 3 }, {}, { text: 'a', more: 1 }]) {
      const reply = await client.call('echo', args as Json)
      if (revision.errorsAsResults) {
        t.match(reply.result, { isError: true, content: [{ type: 'text', text: /text|more/ }] })
      } else t.match(reply.error, { code: -32602, message: /text|more/ })
    }
  },

  'shows the failure of a tool in the words of the tool': async (t, { client, revision, transport }) => {
    const reply = await client.call('refuse')
    t.match(reply.result, { isError: true, content: [{ type: 'text', text: 'not today' }] })
    const coded = await client.call('unavailable')
    if (revision.errorsAsResults) {
      t.match(coded.result, { isError: true, content: [{ type: 'text', text: /nothing there/ }] })
    } else t.match(coded.error, { code: -32001, message: /nothing there/ })
    if (transport.http) t.strictSame([reply.status, coded.status], [200, 200])
  },

  'keeps the text of an unexpected error to itself': async (t, { client }) => {
    const reply = await client.call('boom')
    t.match(reply.error, { code: -32603, data: { correlation: String } })
    t.notMatch(JSON.stringify(reply), 'secret detail')
  },

  'has invalid params for a tool that does not exist, or no name at all': async (t, { client }) => {
    t.match((await client.call('no_such_tool')).error, { code: -32602, message: /no_such_tool/ })
    t.equal((await client.request('tools/call', { arguments: {} })).error?.code, -32602)
    t.equal((await client.request('tools/call', { name: 'echo', arguments: [] })).error?.code, -32602)
  }
}
