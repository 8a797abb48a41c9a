import t, { type Test } from 'tap'
import type { CallToolResult, ContentBlock } from '../../../protocol/wire/content.js'
import { convert } from '../../../protocol/revisions/convert.js'
import type { Features } from '../../../protocol/revisions/revision.js'
import { versions } from '../../../protocol/revisions/table.js'
import { revision, type Json } from '../../support/recorder.js'

const ALL = [...versions].reverse()
const [, , , ELICITING, MODERN] = ALL as [string, string, string, string, string]

/** Runs once per revision, with what is expected from a revision on. */
function each (
  what: string,
  check: (t: Test, features: Features, since: <T>(version: string, then: T, before: T) => T) => void
): void {
  for (const version of ALL) {
    t.test(`${version}: ${what}`, async t =>
      check(t, revision(version).features, (first, then, before) => (version >= first ? then : before))
    )
  }
}

const present = (object: Json, keys: string[]): string[] => keys.filter(key => key in object)

each('a tool is listed with the members that revision knows', (t, features, since) => {
  const listed = convert.definition({
    name: 'a',
    title: 'A',
    description: 'd',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    icons: [{ src: 'x:y' }],
    _meta: { k: 1 }
  }, features)
  t.strictSame(present(listed, ['name', 'description', 'inputSchema']), ['name', 'description', 'inputSchema'])
  t.strictSame(present(listed, ['annotations']), since('2025-03-26', ['annotations'], []))
  t.strictSame(
    present(listed, ['title', 'outputSchema', '_meta']),
    since('2025-06-18', ['title', 'outputSchema', '_meta'], [])
  )
  t.strictSame(present(listed, ['icons']), since('2025-11-25', ['icons'], []))
})

each('the title of a tool is where that revision looks for it', (t, features, since) => {
  const titled = { name: 'a', title: 'A', inputSchema: { type: 'object' } }
  const { title, annotations } = convert.definition(titled, features)
  t.equal(title, since<string | undefined>('2025-06-18', 'A', undefined))
  t.strictSame(
    annotations,
    since<unknown>('2025-06-18', undefined, since<unknown>('2025-03-26', { title: 'A' }, undefined))
  )
  const own = convert.definition({ ...titled, annotations: { title: 'B', readOnlyHint: true } }, features)
  t.strictSame(
    own.annotations,
    since<unknown>('2025-03-26', { title: 'B', readOnlyHint: true }, undefined),
    'what the author wrote there stays'
  )
})

each('an output schema that is no object is listed where any value may be structured', (t, features, since) => {
  const listed = convert.definition(
    { name: 'a', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
    features
  )
  t.strictSame(present(listed, ['outputSchema']), since(MODERN, ['outputSchema'], []))
})

each('a resource keeps what every revision knows', (t, features, since) => {
  const annotations = { audience: ['user'], priority: 1, lastModified: '2025-01-01T00:00:00Z' }
  const listed = convert.definition(
    { uri: 'a:b', name: 'a', title: 'A', mimeType: 'text/plain', size: 3, annotations, icons: [], _meta: {} },
    features
  )
  t.strictSame(present(listed, ['uri', 'name', 'mimeType', 'size']), ['uri', 'name', 'mimeType', 'size'])
  t.strictSame(present(listed, ['title', '_meta']), since('2025-06-18', ['title', '_meta'], []))
  t.match(listed.annotations, { audience: ['user'], priority: 1 })
  t.strictSame(present(listed.annotations as Json, ['lastModified']), since('2025-06-18', ['lastModified'], []))
})

each('the arguments of a prompt are trimmed like the prompt', (t, features, since) => {
  const listed = convert.definition(
    { name: 'p', title: 'P', arguments: [{ name: 'a', title: 'A', required: true }] },
    features
  )
  const [argument] = listed.arguments as [Json]
  t.strictSame(
    argument,
    since<Json>('2025-06-18', { name: 'a', title: 'A', required: true }, { name: 'a', required: true })
  )
})

each('the server names itself in the words of that revision', (t, features, since) => {
  const info = { name: 'n', version: '1', title: 'T', description: 'd', websiteUrl: 'https://example.org', icons: [] }
  t.strictSame(
    Object.keys(convert.implementation(info, features)).sort(),
    since(
      '2025-11-25',
      ['description', 'icons', 'name', 'title', 'version', 'websiteUrl'],
      since('2025-06-18', ['name', 'title', 'version'], ['name', 'version'])
    )
  )
})

each('audio is audio, or an attachment with the same bytes', (t, features, since) => {
  const block = convert.content({ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }, features)
  t.match(
    block,
    since<object>(
      '2025-03-26',
      { type: 'audio', data: 'AAAA' },
      { type: 'resource', resource: { blob: 'AAAA', mimeType: 'audio/wav', uri: String } }
    )
  )
})

each('a link is a link, or text that names it', (t, features, since) => {
  const block = convert.content(
    { type: 'resource_link', uri: 'a:b', name: 'n', title: 'T', description: 'about' },
    features
  )
  t.strictSame(
    block,
    since<ContentBlock>(
      '2025-06-18',
      { type: 'resource_link', uri: 'a:b', name: 'n', title: 'T', description: 'about' },
      { type: 'text', text: 'n: a:b\nabout' }
    )
  )
})

each('notes on a block are trimmed', (t, features, since) => {
  const block = convert.content(
    { type: 'text', text: 'x', annotations: { priority: 1, lastModified: 'l' }, _meta: { k: 1 } },
    features
  )
  t.strictSame(
    block,
    since<ContentBlock>(
      '2025-06-18',
      { type: 'text', text: 'x', annotations: { priority: 1, lastModified: 'l' }, _meta: { k: 1 } },
      { type: 'text', text: 'x', annotations: { priority: 1 } }
    )
  )
})

each('notes on an embedded resource are trimmed', (t, features, since) => {
  const block = convert.content({ type: 'resource', resource: { uri: 'a:b', text: 'x', _meta: { k: 1 } } }, features)
  t.strictSame(
    present((block as unknown as { resource: Json }).resource, ['_meta', 'text', 'uri']),
    since('2025-06-18', ['_meta', 'text', 'uri'], ['text', 'uri'])
  )
})

each('structured content is sent where it is known, and as an object until any value may be', (t, features, since) => {
  const result = (structuredContent: unknown): CallToolResult =>
    convert.callResult({ content: [], structuredContent }, features)
  t.strictSame(
    result({ a: 1 }),
    since<object>('2025-06-18', { content: [], structuredContent: { a: 1 } }, { content: [] })
  )
  for (const value of [[1], 'x', 0, false, null]) {
    t.strictSame(result(value), since<object>(MODERN, { content: [], structuredContent: value }, { content: [] }))
  }
})

each('a failure and the _meta of a result are known everywhere', (t, features) => {
  t.strictSame(convert.callResult({ content: [], isError: true, _meta: { k: 1 } }, features), {
    content: [],
    isError: true,
    _meta: { k: 1 }
  })
})

each('the tools of a sampling request are sent where they are known', (t, features, since) => {
  const params = convert.sampling({ messages: [], maxTokens: 1, tools: [], toolChoice: {} }, features)
  t.strictSame(
    Object.keys(params),
    since(ELICITING, ['messages', 'maxTokens', 'tools', 'toolChoice'], ['messages', 'maxTokens'])
  )
})

each('the words of progress are sent where they are known', (t, features, since) => {
  t.strictSame(
    convert.progress({ progress: 1 }, 'half', features),
    since<object>('2025-03-26', { progress: 1, message: 'half' }, { progress: 1 })
  )
  t.strictSame(convert.progress({ progress: 1 }, undefined, features), { progress: 1 })
})

t.test('the conversion for a client does not change the definition of the author', async t => {
  const definition = Object.freeze({
    name: 'a',
    title: 'A',
    inputSchema: {},
    annotations: Object.freeze({ lastModified: 'l' }),
    arguments: Object.freeze([Object.freeze({ name: 'x', title: 'X' })])
  })
  const block: ContentBlock = Object.freeze({
    type: 'text',
    text: 'x',
    annotations: Object.freeze({ lastModified: 'l' })
  })
  for (const version of ALL) {
    t.doesNotThrow(() => convert.definition(definition as unknown as Json, revision(version).features))
    t.doesNotThrow(() => convert.content(block, revision(version).features))
  }
})
