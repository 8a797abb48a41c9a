import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Options } from '../../../app.js'
import { listening } from '../../support/gateway.js'
import { visit, type VisitOptions } from './visit.js'

/** A gateway with the console as it was built, and the tools of test/support/gateway.ts. */
export async function consoleGateway (
  t: Test,
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<{ app: FastifyInstance, url: string }> {
  return await listening(t, { console: true, ...options }, server)
}

/** The page of a gateway of its own. */
export async function openConsole (
  t: Test,
  options: Partial<Options> = {},
  how: VisitOptions = {}
): Promise<{ app: FastifyInstance, url: string, page: Page }> {
  const { app, url } = await consoleGateway(t, options)
  return { app, url, page: await visit(t, url, how) }
}
