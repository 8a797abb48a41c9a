import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Identity, Stdio } from '../app.js'
import { banner, startLine } from './report/banner.js'
import type { StdioEntry } from './report/client-snippets.js'
import { inventoryOf } from './report/inventory.js'
import { chooseFormat, commandLogger } from './logger.js'
import { didYouMean } from '../lib/nearest-name.js'
import { visible } from '../lib/one-line.js'
import { sourceFiles } from '../loader/names-in-use.js'
import { flatten, type Options } from '../options.js'
import { OptionsError } from '../options/mistakes.js'
import type { LogLines } from '../system/process/log-lines.js'
import { STANDARD_ERROR } from '../system/process/standard-error.js'
import { claimStandardInput } from '../system/process/standard-input.js'
import { version } from '../version.js'
import { anonymousWarning } from './exposure.js'
import { typedCommand } from './places.js'
import { watchTerminal } from './process/signals.js'
import { claimStandardOutput, watchStrayInput } from './process/standard-streams.js'
import { listen, type Listening } from './listen.js'
import { reloader } from './reload.js'
import { lockFileOf } from './places.js'
import { Shutdown } from './process/shutdown.js'
import { staleBuildWarning } from './stale-build.js'
import { followConfigFile, followConfiguration } from './follow-configuration.js'

export interface ServeOptions {
  /** Something about the way it was started that the log has to say. */
  warning: string | undefined
  /** How a client launches a gateway like this one. */
  launch: () => StdioEntry
  /** The one writer of standard error. */
  logs: LogLines
  /** Sets what SIGHUP does. */
  onHangUp: (act: () => void) => void
  /** Reads the options again. Throws a sentence if they cannot be served. */
  read: () => Options
  /** The config file, also where that of the user is not there yet. */
  file: string | undefined
  /** True where it was read. */
  isFileRead: boolean
  /** Adds to an error where the options it is about were set. */
  locate: (error: Error) => Error
}

const STRAY_INPUT =
  'standard input carries JSON-RPC, but --stdio is not set; add --stdio to the arguments in the configuration of the client'

/** Serves what the options say until a signal comes or standard input ends. */
export async function serve (
  options: Options,
  { warning, launch, logs, onHangUp, read, file, isFileRead, locate }: ServeOptions
): Promise<void> {
  // Before a plugin can use them.
  const output = claimStandardOutput()
  const openInput = options.stdio ? claimStandardInput() : undefined
  // Not imported at the top: `patchbay --help` and `patchbay key` need no server.
  const { build, serveStdio } = await import('../app.js')
  const isForPeople = await chooseFormat(logs, options.logFormat)
  const logger = commandLogger(options.logLevel, process.pid, logs)
  if (warning !== undefined) logger.warn(warning)
  // Plugins may be TypeScript. Without any, reading our own source maps would only cost time.
  process.setSourceMapsEnabled(options.plugins.length > 0 || options.reload)
  const app = await build(options, { loggerInstance: logger }).catch((error: Error) => {
    throw locate(error)
  })
  const lockFile = keepPins(app, lockFileOf({ file, isRead: isFileRead }))
  await app.ready()
  const identity = options.token === undefined ? undefined : await identify(app, options.token)
  if (options.stdio) await checkView(app, options.view, identity)
  else if (options.view !== undefined) logger.warn(viewWithoutStdio(options.view))

  const configuration = options.reload ? await followConfiguration(app, options, file) : undefined
  const running: { listening?: Listening, stdio?: Stdio, following?: Following, followingLock?: Following } = {}
  const close = async (): Promise<void> => {
    running.stdio?.abandon()
    if (running.listening !== undefined) await leaveBalancer(app, options.drainDelay)
    running.listening?.stop()
    configuration?.close()
    running.following?.close()
    running.followingLock?.close()
    await app.close()
    await running.stdio?.flush()
  }
  // Before a client can know of us, so that a signal it sends finds a listener.
  const shutdown = new Shutdown({ logger, logs, grace: options.grace, drainDelay: options.drainDelay, close })
  const reload = reloader({ app, logger, options, read, locate, onFiles: files => configuration?.follow(files) })
  configuration?.start(() => reload())
  onHangUp(hangUpAction(shutdown, reload))

  if (options.http) running.listening = await listen(app, options.host, options.port)
  warnIfAnonymous(options, logger)
  if (openInput !== undefined) {
    const { view, maxMessage, maxQueue, writeDeadline } = flatten(options)
    const limits = { maxMessage, maxQueue, writeDeadline }
    running.stdio = serveStdio(app.mcp, { input: openInput(), output, view, ...limits, ...identity && { identity } })
    void running.stdio.closed.then(async reason => await onStdioClosed(reason, options, logger, shutdown))
  }
  announce(app, options, { launch, logger, isForPeople, file }, running.listening?.address)
  // After the banner, which would push it out of sight.
  const stale = options.reload ? undefined : staleBuildWarning(sourceFiles(app))
  if (stale !== undefined) logger.warn(stale)
  if (!options.stdio) watchStrayInput(() => logger.warn(STRAY_INPUT))
  if (configuration === undefined && file !== undefined) {
    running.following = await followServers(file, isFileRead, () => reload('servers'), logger)
  }
  if (lockFile !== undefined) running.followingLock = await followLock(app, lockFile, logger)
}

/** Files whose changes are noticed until it is closed. */
interface Following { close: () => void }

/** Follows the config file, in which commands such as `patchbay add` change servers, or the lock beside it. */
async function followServers (
  file: string,
  isRead: boolean,
  reload: () => void,
  logger: FastifyBaseLogger
): Promise<Following> {
  try {
    return await followConfigFile(file, reload, isRead)
  } catch (error) {
    logger.warn({ err: error }, `changes of ${file} are not noticed; send SIGHUP after a change`)
    return { close: () => {} }
  }
}

function keepPins ({ mcp }: FastifyInstance, lockFile: string | undefined): string | undefined {
  if (lockFile !== undefined) mcp.upstreams.pins.keepIn(lockFile)
  return lockFile
}

/** Follows the lock beside the config file, which `patchbay pins` changes. */
async function followLock ({ mcp }: FastifyInstance, file: string, logger: FastifyBaseLogger): Promise<Following> {
  return await followServers(file, false, () => { void mcp.upstreams.pins.reload() }, logger)
}

/** Says that the gateway is not ready, and goes on serving until load balancers know it. */
async function leaveBalancer (app: FastifyInstance, delay: number): Promise<void> {
  if (delay === 0) return
  app.mcp.readiness.leave()
  await sleep(delay)
}

/** SIGHUP reloads the options, or ends the gateway if it came because its terminal was closed. */
function hangUpAction (shutdown: Shutdown, reload: () => void): () => void {
  const hasLostTerminal = watchTerminal()
  return () => {
    if (shutdown.hasBegun) return
    // At exit, Node.js restores the state of the terminal, and hangs in that when the terminal is gone.
    if (hasLostTerminal()) void shutdown.run('terminal closed').then(() => process.kill(process.pid, 'SIGKILL'))
    else reload()
  }
}

async function onStdioClosed (
  reason: string,
  { http, keepServing }: Options,
  logger: FastifyBaseLogger,
  shutdown: Shutdown
): Promise<void> {
  const continues = http && keepServing
  logger.info({ reason }, `stdio client disconnected${continues ? '; HTTP is still served (option keepServing)' : ''}`)
  if (!continues) await shutdown.run(reason)
}

function warnIfAnonymous (options: Options, logger: FastifyBaseLogger): void {
  const warning = anonymousWarning(options)
  if (warning !== undefined) logger.warn(warning)
}

/** The identity of the stdio client. */
async function identify (app: FastifyInstance, token: string): Promise<Identity> {
  try {
    return await app.mcp.identities.authenticate(token)
  } catch (error) {
    await app.close()
    throw new Error(`option token is not accepted: ${(error as Error).message}`, { cause: error })
  }
}

const viewWithoutStdio = (view: string): string =>
  `option view is for the client of --stdio, which is not set; clients of HTTP and WebSocket choose a view by its URL, /mcp/${view}`

/** Throws when the stdio client cannot have the view that it was given. */
async function checkView (
  app: FastifyInstance,
  view: string | undefined,
  identity: Identity | undefined
): Promise<void> {
  const { views } = app.mcp
  if (
    view === undefined || view === identity?.view || (identity?.view === undefined && views.get(view) !== undefined)
  ) {
    return
  }
  await app.close()
  throw new OptionsError([
    {
      path: 'view',
      text:
        identity?.view === undefined
          ? `option view is "${view}", and there is no such view${didYouMean(view, views.names())}`
          : `option view is "${view}", and the credential of option token is for the view "${identity.view}" alone`
    }
  ])
}

/** Says what is served: a text for people, or a log line where the log is JSON. Both are written at every level. */
function announce (
  app: FastifyInstance,
  options: Options,
  { launch, logger, isForPeople, file }: Pick<ServeOptions, 'launch' | 'file'> & { logger: Logger, isForPeople: boolean },
  address: string | undefined
): void {
  const config = file !== undefined && existsSync(file) ? file : undefined
  const served = { version, address, options, config, inventory: inventoryOf(app) }
  if (isForPeople) {
    process.stderr.write(
      visible(banner({ ...served, launch, command: typedCommand(), terminal: isatty(STANDARD_ERROR) }))
    )
  } else {
    const { fields, message } = startLine(served)
    logger.child({}, { level: 'info' }).info(fields, message)
  }
}
