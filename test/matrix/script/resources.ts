import type { Chapter } from '../cell.js'
import type { Json } from '../../support/specification/message.js'
import { listAll } from './pagination.js'

/** Resources and their templates. */
export const resources: Record<string, Chapter> = {
  'reads text, bytes and what a template stands for': async (t, { client }) => {
    const read = async (uri: string) => (await client.request('resources/read', { uri })).result?.contents
    t.strictSame(await read('test://text'), [{ uri: 'test://text', mimeType: 'text/plain', text: 'hello' }])
    t.strictSame(await read('test://bytes'), [
      { uri: 'test://bytes', mimeType: 'application/octet-stream', blob: 'AQID' }
    ])
    t.strictSame(await read('test://item/7'), [
      { uri: 'test://item/7', mimeType: 'application/json', text: '{"id":"7"}' }
    ])
  },

  'refuses a resource that does not exist with the code of the revision': async (t, { client, revision }) => {
    for (const uri of ['test://item/missing', 'nothing://here']) {
      t.match((await client.request('resources/read', { uri })).error, {
        code: revision.unknownResource,
        data: { uri }
      })
    }
    t.equal((await client.request('resources/read', {})).error?.code, -32602)
  },

  'has how long the contents may be cached, where the revision can': async (t, { client, revision }) => {
    const { result = {} } = await client.request('resources/read', { uri: 'test://text' })
    if (revision.modern) t.match(result, { resultType: 'complete', ttlMs: Number, cacheScope: 'private' })
    else t.strictSame(Object.keys(result), ['contents'])
  },

  'lists of resources and templates only what the revision knows': async (t, { client, revision }) => {
    const keys = [
      'name',
      'annotations',
      ...(revision.titles ? ['_meta', 'title'] : []),
      ...(revision.icons ? ['icons'] : [])
    ]
    for (const [method, member, address] of [
      ['resources/list', 'resources', 'uri'],
      ['resources/templates/list', 'resourceTemplates', 'uriTemplate']
    ] as const) {
      const found: Json = (await listAll(client, method, member)).find(({ name }) => name === 'decorated') ?? {}
      t.strictSame(Object.keys(found).sort(), [...keys, address].sort(), method)
      t.equal('lastModified' in (found.annotations as Json), revision.titles, `lastModified in ${method}`)
    }
  },

  'puts on contents only what the revision knows': async (t, { client, revision }) => {
    const { result = {} } = await client.request('resources/read', { uri: 'decorated://one' })
    const [contents = {}] = result.contents as Json[]
    t.equal('_meta' in contents, revision.titles)
  }
}
