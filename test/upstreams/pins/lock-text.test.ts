import t from 'tap'
import { definitionsOf, type Section } from '../../../upstreams/pins/definitions.js'
import { readLock, writeLock } from '../../../upstreams/pins/lock-text.js'

type Json = Record<string, unknown>

const section = (tools: Json[], more: Json = {}): Section => ({
  source: 'abc',
  ...definitionsOf({ instructions: 'two\nlines', lists: { tools, prompts: [], resources: [], templates: [], skills: [], ...more } })
})

const LOCK = new Map([
  ['zed', section([{ name: 'b', inputSchema: { z: 1, a: 2 } }, { name: 'a', description: 'with {\n        "braces"\n        }' }])],
  ['files', section([], { resources: [{ uri: 'file:///x', name: 'x' }] })]
])

t.test('a lock is written sorted, with a definition on lines of its own, and read back', async t => {
  const text = await writeLock(LOCK)
  t.equal(text, await writeLock(new Map([...LOCK].reverse())))
  t.match(text, /^\{\n {2}"version": 1,\n {2}"servers": \{\n {4}"files": \{/)
  t.match(text, /\n {8}"b": \{\n {10}"inputSchema": \{\n {12}"a": 2,\n {12}"z": 1\n/)
  const read = await readLock(text)
  t.equal(await writeLock(read), text)
  t.strictSame(read.get('zed')?.lists.tools.get('a'), { name: 'a', description: 'with {\n        "braces"\n        }' })
  t.equal(read.get('files')?.instructions, 'two\nlines')
})

t.test('a lock in any other form of JSON is read, too', async t => {
  const text = await writeLock(LOCK)
  for (const form of [
    JSON.stringify(JSON.parse(text)),
    JSON.stringify(JSON.parse(text), null, 4),
    text.replaceAll('\n', '\r\n'),
    text.replace('{', '{ // a comment'),
    text.replace('"b": {\n          "inputSchema": {\n            "a": 2,\n            "z": 1\n          },\n          "name": "b"\n        }', '"b": { "name": "b", "inputSchema": { "a": 2, "z": 1 } }')
  ]) {
    t.equal(await writeLock(await readLock(form)), text)
  }
})

t.test('names that reach prototypes are names like others', async t => {
  const lock = new Map([['x', section([{ name: '__proto__' }, { name: 'constructor' }])]])
  const read = await readLock(await writeLock(lock))
  t.strictSame([...read.get('x')?.lists.tools.keys() ?? []], ['__proto__', 'constructor'])
  t.equal(await writeLock(await readLock(JSON.stringify(JSON.parse(await writeLock(lock))))), await writeLock(lock))
})

t.test('a lock that is broken, newer or wrong is refused in words that name the place', async t => {
  const text = await writeLock(LOCK)
  const of = (servers: unknown): string => JSON.stringify({ version: 1, servers })
  const cases: Array<[text: string, why: RegExp | string]> = [
    ['', /^line 1: this is not JSON/],
    ['{', /^line 1: this is not JSON/],
    [text.replace('"name": "b"', '"name": b'), /^line \d+: this is not JSON \(invalid symbol\)$/],
    [text.replace('    "zed"', '<<<<<<< HEAD\n    "zed"'), /^line \d+: a merge is not finished; choose what is accepted$/],
    ['[]', 'it is no lock: it has no "version"'],
    ['{"lockfileVersion":3}', 'it is no lock: it has no "version"'],
    [text.replace('"version": 1', '"version": 2'), /^its version is 2, and this Patchbay knows 1: use/],
    ['{"version":"1","servers":{}}', 'its version must be 1'],
    ['{"version":1}', 'servers must be an object with a section for each server'],
    ['{"version":1,"servers":{},"hash":"x"}', 'it has "hash", and only version and servers belong there'],
    [of({ a: 7 }), 'servers.a must be an object'],
    [of({ a: { source: 7 } }), 'servers.a.source must be a text'],
    [of({ a: { tool: {} } }), /^servers\.a has "tool", and only source, instructions, tools/],
    [of({ a: { tools: [] } }), 'servers.a.tools must be an object with a definition for each name'],
    [of({ a: { tools: { x: 0 } } }), 'servers.a.tools has "x", which must be an object whose name is "x"'],
    [of({ a: { tools: { x: { name: 'y' } } } }), 'servers.a.tools has "x", which must be an object whose name is "x"'],
    [of({ a: { tools: { x: { name: 'x', deep: JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`) as unknown } } } }), 'servers.a.tools has "x", which is nested too deeply'],
    [text.replace('        "b": {', '        "a": {'), /^line \d+: "a" is there twice; remove the one/],
    ['{"version":1,"servers":{"a":{},"a":{}}}', /^line 1: "a" is there twice/]
  ]
  for (const [broken, why] of cases) await t.rejects(readLock(broken), { message: why }, broken.slice(0, 60))
})
