import type { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'
import type { Identity, Stdio } from '../app.js'
import { banner, type Inventory } from '../banner.js'
import { commandLogger } from '../logger.js'
import type { Options } from '../options.js'
import { standardInput, standardOutputNow } from '../system/standard-streams.js'
import { boundYoungGeneration } from '../system/young-generation.js'
import { version } from '../version.js'
import { anonymousWarning } from './exposure.js'
import { watchTerminal } from './hang-up.js'
import { reloader } from './reload.js'

/** For how long the end waits for somebody to read the log, in milliseconds. */
const LAST_WORD = 200
const STANDARD_ERROR = 2

export interface Started {
  /** The command that started this process. */
  launch: string[]
  /** Takes what SIGHUP is to do. */
  onHangUp: (act: () => void) => void
  /** Reads the options again. Throws a sentence when they are not fit to be served. */
  read: () => Options
}

/** Serves what the options say until a signal comes or standard input ends. */
export async function serve (options: Options, { launch, onHangUp, read }: Started): Promise<void> {
  // Before a plugin can lay hands on them.
  const output = claimStdout()
  const input = options.stdio ? standardInput() : undefined
  // Only those who serve need a server.
  const { build, serveStdio } = await import('../app.js')
  // Authors write TypeScript; our own maps would only be read for nothing.
  process.setSourceMapsEnabled(options.plugins.length > 0)
  const { logger, logs } = commandLogger(options.logLevel, process.pid)
  process.once('exit', () => logs.flush())
  const app = await started(build(options, { loggerInstance: logger })).catch(async error => {
    await logs.written(LAST_WORD)
    throw error
  })
  const identity = options.token === undefined ? undefined : await identify(app, options.token)

  let stdio: Stdio | undefined
  let faulty = false
  let ending: Promise<void> | undefined
  /** Once, whoever wants it and however often. */
  const end = async (why: object): Promise<void> => await (ending ??= (async () => {
    logger.info(why, 'shutting down')
    try {
      await app.close()
      await stdio?.flush()
      logger.info('ended')
    } catch (error) {
      faulty = true
      logger.error({ err: error }, 'the end was not in order')
    }
    await logs.written(LAST_WORD)
  })())
  // Answering what is in flight, and sending it over HTTP and over stdio, may each take the whole grace.
  const delay = 3 * options.grace + 5_000
  // Before anybody can know that we are here: a signal must find its handler.
  const closing = closeWithGrace({ delay, logger, skip: ['unhandledRejection', 'uncaughtException', 'SIGHUP'] }, async ({ signal }) => {
    await end({ signal })
    if (faulty) throw new Error('an error was not caught')
  })
  // Nobody knows what such an error leaves half done. So everybody is answered, however many more of them there are, and the process ends
  // with 1: whoever started it may start it anew.
  process.on('uncaughtException', error => {
    // Never fatal, see plugins/logging.ts.
    logger.error({ err: error }, 'an error was thrown where nobody can catch it')
    faulty = true
    if (ending === undefined) void closing.close()
  })
  // A promise that a tool forgot must not take everybody else's calls down.
  process.on('unhandledRejection', error => logger.error({ err: error }, 'a promise was rejected and nobody looked'))

  const reload = reloader(app, logger, options, read)
  const hasLostTerminal = watchTerminal()
  onHangUp(() => {
    if (ending !== undefined) return
    if (hasLostTerminal()) void closing.close()
    else reload()
  })

  const address = options.http ? await app.listen({ port: options.port, host: options.host }) : undefined
  if (options.http) boundYoungGeneration()
  const warning = anonymousWarning(options)
  if (warning !== undefined) logger.warn(warning)
  if (input !== undefined) {
    const { maxMessage, maxQueue, writeDeadline } = options
    stdio = serveStdio(app.mcp, { ...input, output, writeNow: standardOutputNow(), maxMessage, maxQueue, writeDeadline, ...(identity === undefined ? {} : { identity }) })
    void stdio.closed.then(async reason => {
      logger.info({ reason }, 'whoever spoke over standard input and output is gone')
      // A signal that comes meanwhile is the first one.
      await Promise.race([end({ reason }), sleep(delay, undefined, { ref: false })])
      await closing.close()
    })
  }
  // Whoever asks for JSON alone gets nothing else.
  if (process.env['MCP_LOG_JSON'] !== 'true') process.stderr.write(banner({ version, address, options, launch, inventory: inventoryOf(app), terminal: isatty(STANDARD_ERROR) }))
}

async function started (building: Promise<FastifyInstance>): Promise<FastifyInstance> {
  const app = await building
  await app.ready()
  return app
}

/** Whom standard input and output speaks for. */
async function identify (app: FastifyInstance, token: string): Promise<Identity> {
  try {
    return await app.identities.authenticate(token)
  } catch (error) {
    await app.close()
    throw new Error(`option token is not accepted: ${(error as Error).message}`, { cause: error })
  }
}

function inventoryOf ({ tools, resources, prompts, unavailable }: FastifyInstance): Inventory {
  return { tools: tools.names(), resources: resources.uris(), prompts: prompts.names(), unavailable: [...unavailable] }
}

/** Standard output belongs to the stdio transport: whatever a plugin prints goes to standard error. */
function claimStdout (): Writable {
  const { stdout, stderr } = process
  Object.defineProperty(process, 'stdout', { get: () => stderr })
  return stdout
}
