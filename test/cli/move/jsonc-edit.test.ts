import { parse } from 'jsonc-parser'
import t from 'tap'
import { editJsonc } from '../../../cli/move/formats/jsonc-edit.js'

const ROOT = ['mcpServers']
const ENTRY = { command: 'patchbay', args: ['--stdio'] }

const WITH_COMMENTS = `{
  // The theme
  "theme": "dark",
  "mcpServers": {
    // Files
    "files": { "command": "files" }, // of the user
    /* Issues */
    "github": {
      "command": "github"
    },
    "last": { "command": "last" } // the last one
    // the end
  },
  "more": [1, 2]   ,
}
`

t.test('the new member takes the place of the first that goes; all other lines and comments stay', async t => {
  const remove = ['files', 'github'].map(name => [...ROOT, name])
  t.equal(editJsonc(WITH_COMMENTS, { remove, root: ROOT, add: { patchbay: ENTRY } }), `{
  // The theme
  "theme": "dark",
  "mcpServers": {
    // Files
    "patchbay": {
      "command": "patchbay",
      "args": ["--stdio"]
    }, // of the user
    /* Issues */
    "last": { "command": "last" } // the last one
    // the end
  },
  "more": [1, 2]   ,
}
`)
})

t.test('of the last member that goes, the comma before it goes, too', async t => {
  const changed = editJsonc(WITH_COMMENTS, { remove: [[...ROOT, 'last']], root: ROOT, add: {} })
  t.match(changed, '    "github": {\n      "command": "github"\n    }\n    // the last one\n    // the end\n  },')
  const both = editJsonc(WITH_COMMENTS, { remove: [[...ROOT, 'last'], [...ROOT, 'github']], root: ROOT, add: {} })
  t.match(both, '    "files": { "command": "files" } // of the user\n    /* Issues */\n    // the last one\n')
  t.strictSame(parse(both), { theme: 'dark', mcpServers: { files: { command: 'files' } }, more: [1, 2] })
})

t.test('a member is added at the end, with the comma after the one before, and behind its comment', async t => {
  t.match(
    editJsonc(WITH_COMMENTS, { remove: [], root: ROOT, add: { new: { url: 'u' } } }),
    '"last": { "command": "last" }, // the last one\n    // the end\n    "new": {\n      "url": "u"\n    }\n  },'
  )
  t.equal(
    editJsonc('{\n\t"a": {\n\t\t"x": 1,\n\t},\n}\n', { remove: [], root: ['a'], add: { y: [] } }),
    '{\n\t"a": {\n\t\t"x": 1,\n\t\t"y": [],\n\t},\n}\n',
    'tabs, and a comma at the end'
  )
})

const SHAPES: Array<[what: string, before: string, after: string]> = [
  ['an empty file', '', '{\n  "mcpServers": {\n    "n": {\n      "u": 1\n    }\n  }\n}\n'],
  ['an empty object', '{}', '{\n  "mcpServers": {\n    "n": {\n      "u": 1\n    }\n  }\n}'],
  ['one line', '{"mcpServers":{"a":{}}}\n', '{"mcpServers":{"a":{},"n":{"u":1}}}\n'],
  ['one line without servers', '{"theme":1}', '{"theme":1,"mcpServers":{"n":{"u":1}}}'],
  ['one line with an empty object', '{"mcpServers":{}}', '{"mcpServers":{"n":{"u":1}}}'],
  [
    'an object in one line of several',
    '{\n  "mcpServers": { "a": {} }\n}\n',
    '{\n  "mcpServers": { "a": {}, "n": {"u":1} }\n}\n'
  ],
  [
    'an empty object among lines, with CRLF',
    '{\r\n    "mcpServers": {}\r\n}\r\n',
    '{\r\n    "mcpServers": {\r\n        "n": {\r\n            "u": 1\r\n        }\r\n    }\r\n}\r\n'
  ],
  [
    'a member that is there',
    '{\n  "mcpServers": {\n    "n": 5, // five\n    "o": 1\n  }\n}',
    '{\n  "mcpServers": {\n    "n": {\n      "u": 1\n    }, // five\n    "o": 1\n  }\n}'
  ]
]

for (const [what, before, after] of SHAPES) {
  t.test(`a member is set in ${what}`, async t => {
    t.equal(editJsonc(before, { remove: [], root: ROOT, add: { n: { u: 1 } } }), after)
  })
}

t.test('a member goes from one line', async t => {
  const remove = (text: string, name: string): string =>
    editJsonc(text, { remove: [[...ROOT, name]], root: ROOT, add: {} })
  t.equal(remove('{"mcpServers":{"a":1,"b":2}}', 'a'), '{"mcpServers":{"b":2}}')
  t.equal(remove('{"mcpServers":{"a":1,"b":2}}', 'b'), '{"mcpServers":{"a":1}}')
  t.equal(remove('{"mcpServers": { "a": 1, "b": 2 }}', 'b'), '{"mcpServers": { "a": 1 }}')
  t.equal(remove('{"mcpServers":{"a":1}}', 'a'), '{"mcpServers":{}}')
  t.equal(remove('{"mcpServers":{"a":1}}', 'none'), '{"mcpServers":{"a":1}}')
})
