import { unique } from '../../matrix/cell.js'
import { listen } from '../../matrix/script/changes.js'
import { listAll } from '../../matrix/script/pagination.js'
import { textOf } from '../../support/specification/message.js'
import { until } from '../../support/wait.js'
import { call, named, type Chapter } from './passage.js'

/** What a server offers beside calls: lists in pages, resources, prompts, completion, changes. */
export const contents: Record<string, Chapter> = {
  'every page of every list': async (t, { client, server }) => {
    const own = (prefix: string) => (value: unknown): boolean => String(value).startsWith(prefix)
    const tools = (await listAll(client, 'tools/list', 'tools'))
      .map(({ name }) => String(name))
      .filter(own(`${server.name}__`))
    t.equal(tools.length, 20)
    t.ok(tools.every(name => /^[A-Za-z0-9_-]{1,49}$/.test(name)), 'names that every client can use')
    const uris = (await listAll(client, 'resources/list', 'resources'))
      .map(({ uri }) => uri)
      .filter(own(`${server.name}:`))
    t.strictSame(uris.sort(), ['bytes', 'four', 'one', 'text', 'three', 'two'].map(name => `${server.name}://${name}`))
    const templates = (await listAll(client, 'resources/templates/list', 'resourceTemplates')).filter(
      ({ uriTemplate }) => own(`${server.name}:`)(uriTemplate)
    )
    t.equal(templates.length, 5)
    const prompts = (await listAll(client, 'prompts/list', 'prompts')).filter(({ name }) =>
      own(`${server.name}__`)(name)
    )
    t.equal(prompts.length, 5)
    t.match(
      prompts.find(({ name }) => name === `${server.name}__introduce`),
      { description: 'The prompt introduce', arguments: [{ name: 'who', required: true }] }
    )
  },

  'a resource': async (t, { client, server: { name } }) => {
    const read = async (path: string) => await client.request('resources/read', { uri: `${name}://${path}` })
    t.match((await read('text')).result, { contents: [{ uri: `${name}://text`, text: 'the text of text' }] })
    t.match((await read('bytes')).result, { contents: [{ mimeType: 'application/octet-stream', blob: 'AQID' }] })
    t.match((await read('item/5')).result, { contents: [{ uri: `${name}://item/5`, text: 'item 5' }] }, 'of a template')
    t.equal((await read('item')).error?.code, client.revision.unknownResource, 'one that does not exist')
  },

  'a resource that is only linked': async (t, passage) => {
    const client = await passage.connect(t)
    await client.call(named(passage, 'odd'))
    const { result } = await client.request('resources/read', { uri: `${passage.server.name}://linked` })
    t.match(result, { contents: [{ text: 'the text of linked' }] })
  },

  'a prompt': async (t, passage) => {
    const { result } = await passage.client.request('prompts/get', {
      name: named(passage, 'introduce'),
      arguments: { who: 'Ada' }
    })
    t.match(result, {
      description: 'The prompt introduce',
      messages: [{ role: 'user', content: { type: 'text', text: 'Introduce Ada.' } }]
    })
  },

  'a completion': async (t, passage) => {
    const { client, server } = passage
    const complete = async (ref: object, name: string) =>
      (await client.request('completion/complete', { ref, argument: { name, value: 'Al' } })).result
    const expected = { completion: { values: ['Alan', 'Alonzo'], total: 1_234, hasMore: true } }
    t.match(await complete({ type: 'ref/prompt', name: named(passage, 'introduce') }, 'who'), expected)
    t.match(await complete({ type: 'ref/resource', uri: `${server.name}://item/{id}` }, 'id'), expected)
  },

  'a subscription': async (t, { client, server }) => {
    if (!client.transport.streams) return
    const uri = `${server.name}://text`
    const listener = await listen(client, { resourceSubscriptions: [uri] })
    if (listener === undefined) await client.request('resources/subscribe', { uri })
    await until(() => subscribed(uri), 'the subscription at the server')
    server.touch(uri)
    t.match(await client.notified('notifications/resources/updated'), { uri })
    listener?.cancel()
    if (listener === undefined) await client.request('resources/unsubscribe', { uri })
    await until(() => !subscribed(uri), 'the end of the subscription at the server')

    function subscribed (uri: string): boolean {
      return [...server.conversations].some(
        ({ subscriptions, listeners }) =>
          subscriptions.has(uri) ||
          [...listeners.values()].some(
            filter => (filter.resourceSubscriptions as string[] | undefined)?.includes(uri) === true
          )
      )
    }
  },

  'a changed list': async (t, passage) => {
    const { client, server } = passage
    if (!client.transport.streams) return
    const listener = await listen(client, { toolsListChanged: true })
    const name = unique('tool').slice(0, 20)
    server.addTool(name)
    await client.notified('notifications/tools/list_changed')
    t.equal(textOf(await call(passage, name)), `I am ${name}`)
    server.removeTool(name)
    await client.notified('notifications/tools/list_changed')
    t.ok((await call(passage, name)).error)
    listener?.cancel()
  }
}
