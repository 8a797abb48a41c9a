import t from 'tap'
import { COMMAND_NAMES } from '../../../cli/commands.js'
import type { Command } from '../../../cli/commands/command.js'
import { complete, splitLine } from '../../../cli/ask/complete.js'

const COMMANDS = ['serve', 'call', 'tools', 'completion']
const NAMES = { clients: ['cursor', 'codex', 'zed'], servers: ['linear', 'github', '--odd'], views: ['work'] }
const TOOLS = [
  {
    name: 'paint',
    description: 'Paints.\nA lot',
    inputSchema: {
      type: 'object',
      properties: {
        color: { enum: ['red', 'green'], description: 'Which' },
        loud: { type: 'boolean' },
        tags: { type: 'array', items: { enum: ['a', 'b'] } },
        size: { type: 'integer' }
      },
      required: ['color']
    }
  },
  { name: 'print', inputSchema: {} }
]
const lists = {
  of: async (kind: string) =>
    kind === 'tools'
      ? TOOLS
      : kind === 'prompts'
        ? [{ name: 'greet', arguments: [{ name: 'who', required: true }] }]
        : [{ uri: 'test://a', description: 'A' }],
  names: async (kind: keyof typeof NAMES) => NAMES[kind]
}
const wordsFor = async (...words: string[]): Promise<string[]> =>
  (await complete(words, COMMANDS, lists)).map(({ word }) => word)

t.test('commands, flags and their values are completed', async t => {
  t.strictSame(await wordsFor('c'), ['call', 'completion'])
  t.strictSame(await wordsFor('call', '--fo'), ['--format'])
  t.strictSame(await wordsFor('call', '--format', ''), ['json', 'text'])
  t.strictSame(await wordsFor('call', '--log-level', 'e'), ['error', 'emergency'])
  t.strictSame(await wordsFor('call', 'paint', '--o'), ['--out'])
  t.strictSame(await wordsFor('serve', '--ro'), ['--root'])
  t.strictSame(await wordsFor('completion', ''), ['bash', 'zsh', 'fish'])
  t.strictSame(await wordsFor('help', 'to'), ['tools'])
})

const ROWS: Array<[words: string[], expected: string[]]> = [
  [['import', ''], ['cursor', 'codex', 'zed']],
  [['import', 'cursor', ''], ['codex', 'zed']],
  [['import', '--s'], ['--secrets']],
  [['import', '--secrets', ''], ['variables', 'files', 'keep']],
  [['export', 'c'], ['cursor', 'codex']],
  [['export', 'cursor', ''], []],
  [['export', 'cursor', '--u'], ['--undo']],
  [['export', '--file', ''], []],
  [['add', 'x', '--tr'], ['--transport']],
  [['add', 'x', '-t', ''], ['http', 'sse', 'websocket']],
  [['add', ''], []],
  [['remove', 'l'], ['linear']],
  [['list', '--j'], ['--json']],
  [['login', ''], ['linear', 'github']],
  [['login', '--n'], ['--no-browser']],
  [['login', '--as', ''], []],
  [['logout', '--as', 'key:ada', 'g'], ['github']],
  [['doctor', '--t'], ['--timeout']],
  [['doctor', '--timeout', '5', 'l'], ['linear']],
  [['doctor', '--mcp-config', ''], []],
  [['pins', ''], ['list', 'diff', 'accept', 'verify', 'reset']],
  [['pins', 'accept', 'g'], ['github']],
  [['pins', 'accept', 'github', '--e'], ['--expect', '--ephemeral']],
  [['rules', ''], ['explain']],
  [['rules', 'explain', '--v'], ['--view']],
  [['approvals', ''], ['list', 'approve', 'decline']],
  [['approvals', 'approve', '--k'], ['--key']],
  [['views', ''], ['work']],
  [['key', 'ci', '--view', ''], ['work']],
  [['lint', 'g'], ['github']],
  [['new', '--'], ['--help']]
]

t.test('flags and names of the other commands are completed', async t => {
  for (const [words, expected] of ROWS) t.strictSame(await wordsFor(...words), expected, words.join(' '))
})

t.test('every command has its flags, and none that it does not know', async t => {
  for (const command of COMMAND_NAMES.filter(name => !['new', 'completion', 'help', 'version'].includes(name))) {
    const { help } = ((await import(`../../../cli/commands/${command}.js`)) as { command: Command }).command
    for (const flag of help.match(/--[a-z][a-z-]+/g) ?? []) {
      if (flag !== '--help') t.ok((await wordsFor(command, flag)).includes(flag), `${command} ${flag}`)
    }
  }
})

t.test('tools, prompts, resources and their arguments are completed', async t => {
  t.strictSame(await wordsFor('call', 'pa'), ['paint'])
  t.strictSame(await wordsFor('call', '--url', 'http://x', 'p'), ['paint', 'print'])
  t.strictSame(await wordsFor('call', 'paint', ''), ['color=', 'loud=', 'tags=', 'size='])
  t.strictSame(await wordsFor('call', 'paint', 'color=red', 'size:=1', ''), ['loud=', 'tags='])
  t.strictSame(await wordsFor('call', 'paint', 'tags=a', 't'), ['tags='], 'a list may be repeated')
  t.strictSame(await wordsFor('call', 'paint', 'color=g'), ['color=green'])
  t.strictSame(await wordsFor('call', 'paint', 'loud='), ['loud=true', 'loud=false'])
  t.strictSame(await wordsFor('call', 'paint', 'tags='), ['tags=a', 'tags=b'])
  t.strictSame(await wordsFor('call', 'paint', 'size='), [])
  t.strictSame(await wordsFor('prompt', 'greet', ''), ['who='])
  t.strictSame(await wordsFor('read', ''), ['test://a'])
  t.match((await complete(['call', 'paint', 'c'], COMMANDS, lists))[0], { about: 'required, Which' })
  t.match((await complete(['call', 'pa'], COMMANDS, lists))[0], { about: 'Paints. A lot' }, 'in one line')
})

t.test('where a file, JSON or the words of another program may be meant, nothing is offered', async t => {
  for (const words of [['call', '--out', ''], ['call', '--json', ''], ['call', 'paint', '--', ''], ['call', 'gone', '']]) {
    t.strictSame(await wordsFor(...words), [], words.join(' '))
  }
})

t.test('a line is split as a shell splits it', async t => {
  for (const [line, words] of [
    ['patchbay ', ['patchbay', '']],
    ['a  b', ['a', 'b']],
    ['a "b c" d\\ e \'f"\'', ['a', 'b c', 'd e', 'f"']],
    ['a "b', ['a', 'b']],
    ['', ['']]
  ] as Array<[string, string[]]>) t.strictSame(splitLine(line), words, line)
})
