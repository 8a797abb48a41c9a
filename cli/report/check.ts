import { pino } from 'pino'
import type { Options } from '../../options.js'
import { version } from '../../version.js'
import { anonymousWarning, checkExposure } from '../exposure.js'
import { describeStartError } from '../process/start-error.js'
import { servedLines } from './banner.js'
import { checkFolder } from './check-folder.js'
import { addressOf } from './clients.js'
import { inventoryOf, type Inventory } from './inventory.js'

export interface Checked {
  /** What would be served; empty if there is a mistake. */
  report: string
  warnings: string[]
  /** One sentence each. */
  mistakes: string[]
}

/** Checks the options, keys, data folder and plugins. Plugins are loaded, but nothing is listened on or written. */
export async function check (read: () => Options): Promise<Checked> {
  const warnings: string[] = []
  try {
    const options = read()
    const [exposed, folder, built] = [mistakeOf(() => checkExposure(options)), mistakeOf(() => checkFolder(options)), await tryOut(options, warnings)]
    const mistakes = [...exposed, ...folder, ...built.mistakes]
    const anonymous = anonymousWarning(options)
    return { report: mistakes.length === 0 ? describe(options, built.inventory) : '', warnings: [...(anonymous === undefined ? [] : [anonymous]), ...expired(options), ...warnings], mistakes }
  } catch (error) {
    return { report: '', warnings, mistakes: describeStartError(error as Error, false) }
  }
}

function mistakeOf (check: () => void): string[] {
  try {
    check()
    return []
  } catch (error) {
    return describeStartError(error as Error, false)
  }
}

interface Tried { inventory: Inventory, mistakes: string[] }

const NOTHING: Inventory = { tools: [], resources: [], prompts: [], unavailable: [] }

/** Builds the gateway. If that fails, each plugin is tried alone, so that one mistake does not hide another. */
async function tryOut (options: Options, warnings: string[]): Promise<Tried> {
  try {
    return { inventory: await buildAndList(options, warnings), mistakes: [] }
  } catch (error) {
    const mistakes = new Set<string>()
    for (const plugins of [[], ...options.plugins.map(plugin => [plugin])]) {
      await buildAndList({ ...options, plugins }, []).catch(error => { for (const sentence of describeStartError(error as Error, false)) mistakes.add(sentence) })
    }
    return { inventory: NOTHING, mistakes: mistakes.size === 0 ? describeStartError(error as Error, false) : [...mistakes] }
  }
}

async function buildAndList (options: Options, warnings: string[]): Promise<Inventory> {
  const { build } = await import('../../app.js')
  const { redis, ...local } = options
  const loggerInstance = pino({ level: 'warn' }, { write: line => { warnings.push((JSON.parse(line) as { msg: string }).msg) } })
  const app = await build({ ...local, ephemeral: true, watch: false }, { loggerInstance })
  try {
    await app.ready()
    if (options.token !== undefined) await app.mcp.identities.authenticate(options.token).catch((error: Error) => { throw new Error(`option token is not accepted: ${error.message}`, { cause: error }) })
    return inventoryOf(app)
  } finally {
    await app.close()
  }
}

function expired ({ apiKeys }: Options): string[] {
  return apiKeys.filter(({ expires }) => expires !== undefined && Date.parse(expires) < Date.now()).map(({ name, expires }) => `option apiKeys: the key of ${name} expired on ${expires}`)
}

function describe (options: Options, inventory: Inventory): string {
  const address = options.http ? addressOf(options) : undefined
  return [`patchbay ${version} would serve this; nothing was started.`, '', ...servedLines({ version, address, options, inventory }), ''].join('\n')
}
