import type { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import type { FastifyInstance } from 'fastify'
import type { Identity, Stdio } from '../app.js'
import { banner, type Inventory } from './banner.js'
import { commandLogger } from './logger.js'
import type { Options } from '../options.js'
import type { LogLines } from '../system/process/log-lines.js'
import { STANDARD_ERROR } from '../system/process/standard-error.js'
import { standardInput, standardOutputNow } from '../system/process/standard-streams.js'
import { boundYoungGeneration } from '../system/process/young-generation.js'
import { version } from '../version.js'
import { anonymousWarning } from './exposure.js'
import { watchTerminal } from './hang-up.js'
import { listen } from './listen.js'
import { reloader } from './reload.js'
import { Shutdown } from './shutdown.js'

export interface Started {
  /** The command that started this process. */
  launch: string[]
  /** The one writer of standard error. */
  logs: LogLines
  /** Takes what SIGHUP is to do. */
  onHangUp: (act: () => void) => void
  /** Reads the options again. Throws a sentence when they are not fit to be served. */
  read: () => Options
}

/** Serves what the options say until a signal comes or standard input ends. */
export async function serve (options: Options, { launch, logs, onHangUp, read }: Started): Promise<void> {
  // Before a plugin can lay hands on them.
  const output = claimStdout()
  const input = options.stdio ? standardInput() : undefined
  // Only those who serve need a server.
  const { build, serveStdio } = await import('../app.js')
  // Authors write TypeScript; our own maps would only be read for nothing.
  process.setSourceMapsEnabled(options.plugins.length > 0)
  const logger = commandLogger(options.logLevel, process.pid, logs)
  const app = await started(build(options, { loggerInstance: logger }))
  const identity = options.token === undefined ? undefined : await identify(app, options.token)

  let stdio: Stdio | undefined
  let stopListening = () => {}
  const close = async (): Promise<void> => {
    stopListening()
    await app.close()
    await stdio?.flush()
  }
  // Before anything can know that we are here: a signal must find its handler.
  const shutdown = new Shutdown({ logger, logs, grace: options.grace, close })

  const reload = reloader(app, logger, options, read)
  const hasLostTerminal = watchTerminal()
  onHangUp(() => {
    if (shutdown.begun) return
    // Node.js puts terminals back in order when it exits, and does not come back from that where the terminal is gone.
    if (hasLostTerminal()) void shutdown.now('the terminal was closed').then(() => process.kill(process.pid, 'SIGKILL'))
    else reload()
  })

  const listening = options.http ? await listen(app, options.host, options.port) : undefined
  if (listening !== undefined) stopListening = listening.stop
  if (options.http) boundYoungGeneration()
  const warning = anonymousWarning(options)
  if (warning !== undefined) logger.warn(warning)
  if (input !== undefined) {
    const { maxMessage, maxQueue, writeDeadline } = options
    stdio = serveStdio(app.mcp, { ...input, output, writeNow: standardOutputNow(), maxMessage, maxQueue, writeDeadline, ...(identity === undefined ? {} : { identity }) })
    void stdio.closed.then(async reason => {
      const keeps = options.http && options.keepServing
      logger.info({ reason }, `the client of standard input and output is gone${keeps ? '; HTTP is served on (option keepServing)' : ''}`)
      if (!keeps) await shutdown.now(reason)
    })
  }
  // With MCP_LOG_JSON standard error carries JSON only.
  if (process.env['MCP_LOG_JSON'] !== 'true') process.stderr.write(banner({ version, address: listening?.address, options, launch, inventory: inventoryOf(app), terminal: isatty(STANDARD_ERROR) }))
}

async function started (building: Promise<FastifyInstance>): Promise<FastifyInstance> {
  const app = await building
  await app.ready()
  return app
}

/** Whom standard input and output speaks for. */
async function identify (app: FastifyInstance, token: string): Promise<Identity> {
  try {
    return await app.mcp.identities.authenticate(token)
  } catch (error) {
    await app.close()
    throw new Error(`option token is not accepted: ${(error as Error).message}`, { cause: error })
  }
}

function inventoryOf ({ mcp: { tools, resources, prompts, unavailable } }: FastifyInstance): Inventory {
  return { tools: tools.names(), resources: resources.uris(), prompts: prompts.names(), unavailable: [...unavailable] }
}

/** Standard output belongs to the stdio transport: whatever a plugin prints goes to standard error. */
function claimStdout (): Writable {
  const { stdout, stderr } = process
  Object.defineProperty(process, 'stdout', { get: () => stderr })
  return stdout
}
