import { join } from 'node:path'
import t from 'tap'
import { readSettings } from '../../cli/settings/read-settings.js'
import { Options, resolveOptions } from '../../options.js'
import { isObject } from '../../protocol/wire/json.js'
import { folder } from '../support/process.js'
import { announce, type Block, runnable } from './blocks.js'

interface Launch { command: string, args: string[], env?: Record<string, string> }

const { blocks, marked } = runnable('json')
const place = ({ page, line }: Block): string => `${page}:${line}`

t.test('every json block of README and docs is JSON', async t => {
  t.ok(blocks.length > 10)
  for (const block of blocks) t.doesNotThrow(() => JSON.parse(block.code), place(block))
  announce(`${blocks.length} json blocks were parsed, ${marked} are marked as not run`)
})

t.test('every config file on a page has options that the command accepts', async t => {
  const files = blocks.filter(({ code }) => startsWithOption(JSON.parse(code) as object))
  t.ok(files.length > 4)
  for (const block of files) {
    // A page may leave the digits of a hash to the reader.
    const cwd = await folder(t, { 'patchbay.json': block.code.replaceAll('sha256:…', `sha256:${'0'.repeat(64)}`) })
    t.doesNotThrow(() => resolveOptions(readSettings(['--config', 'patchbay.json'], {}, cwd).options), place(block))
  }
})

t.test('every configuration of a client on a page launches the command with options that it accepts', async t => {
  const launches = blocks.flatMap(block => launchesIn(JSON.parse(block.code)).map(launch => ({ block, launch })))
  t.ok(launches.length > 4)
  const cwd = await folder(t, { 'empty.json': '{}' })
  for (const { block, launch: { args, env = {} } } of launches) {
    const own = args.filter(arg => !/^(-y|npx|patchbay|mcp-patchbay|.*\/dist\/cli\.js)$/.test(arg))
    const given = own.map((arg, index) => own[index - 1] === '--config' ? join(cwd, 'empty.json') : arg)
    t.doesNotThrow(() => resolveOptions(readSettings(given, env, cwd).options), place(block))
    t.ok(given.includes('--stdio'), `${place(block)} has --stdio`)
  }
})

function startsWithOption (value: object): boolean {
  const [first = ''] = Object.keys(value).filter(name => name !== '$schema')
  return first in Options.properties
}

/**
 * The commands that launch a gateway, wherever the format of a client has them. Upstream servers are launched by the
 * gateway.
 */
function launchesIn (value: unknown): Launch[] {
  if (!isObject(value)) return []
  const { command, args = [] } = value
  if (typeof command === 'string' && Array.isArray(args)) {
    return isOurs([command, ...(args as string[])]) ? [value as unknown as Launch] : []
  }
  return Object.values(value).flatMap(launchesIn)
}

const isOurs = (words: string[]): boolean => words.some(word => /patchbay|dist\/cli\.js$/.test(word))
