import type { Chapter } from '../cell.js'
import type { Json } from '../../support/specification/message.js'
import { listAll } from './pagination.js'

/** Prompts, and suggestions for their arguments. */
export const prompts: Record<string, Chapter> = {
  'writes a prompt with its arguments': async (t, { client }) => {
    const { result } = await client.request('prompts/get', { name: 'introduce', arguments: { who: 'Ada' } })
    t.match(result, {
      description: 'Introduces somebody',
      messages: [{ role: 'user', content: { type: 'text', text: 'Introduce Ada.' } }]
    })
  },

  'lists of a prompt only what the revision knows': async (t, { client, revision }) => {
    const prompt = (await listAll(client, 'prompts/list', 'prompts')).find(({ name }) => name === 'decorated') ?? {}
    t.strictSame(Object.keys(prompt).sort(), [
      ...(revision.titles ? ['_meta'] : []),
      'arguments',
      ...(revision.icons ? ['icons'] : []),
      'name',
      ...(revision.titles ? ['title'] : [])
    ])
    const [argument = {}] = prompt.arguments as Json[]
    t.equal('title' in argument, revision.titles)
  },

  'shows in a prompt only blocks the revision knows': async (t, { client, revision }) => {
    const { result = {} } = await client.request('prompts/get', { name: 'decorated' })
    const blocks = (result.messages as Array<{ content: Json }>).map(({ content }) => content)
    t.strictSame(
      blocks.map(({ type }) => type),
      ['text', revision.audio ? 'audio' : 'resource', 'resource', revision.titles ? 'resource_link' : 'text']
    )
    t.equal(JSON.stringify(blocks).includes('example.com/hidden'), revision.titles)
  },

  'has invalid params for an unknown prompt and for a missing argument': async (t, { client }) => {
    for (const params of [{ name: 'nobody' }, { name: 'introduce' }, { name: 'introduce', arguments: { who: 3 } }]) {
      t.equal((await client.request('prompts/get', params)).error?.code, -32602, JSON.stringify(params))
    }
  },

  'suggests values for arguments of prompts and templates': async (t, { client }) => {
    const complete = async (ref: Json, name: string, value: string) =>
      (await client.request('completion/complete', { ref, argument: { name, value } }))
    const people = await complete({ type: 'ref/prompt', name: 'introduce' }, 'who', 'A')
    t.match(people.result?.completion, { values: ['Ada', 'Alan'], total: 2, hasMore: false })
    const items = await complete({ type: 'ref/resource', uri: 'test://item/{id}' }, 'id', 't')
    t.match(items.result?.completion, { values: ['two', 'three'] })
    t.equal((await complete({ type: 'ref/prompt', name: 'nobody' }, 'who', '')).error?.code, -32602)
  }
}
