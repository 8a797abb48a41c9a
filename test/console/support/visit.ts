import type { BrowserContext, Page } from 'playwright-core'
import type { Test } from 'tap'
import { newWindow } from './browser.js'

/** In milliseconds. Only a failing test waits this long. */
const DEADLINE = 60_000

export interface VisitOptions {
  /** After the URL of the gateway; `/console` if absent. */
  path?: string
  width?: number
  height?: number
  colorScheme?: 'light' | 'dark'
  /** Console errors that this test provokes, for example by killing the gateway. */
  expected?: RegExp[]
  /** What is done before the page is opened. */
  prepare?: (context: BrowserContext) => Promise<void>
}

/**
 * Opens a page in a window of its own, with no cookies and nothing stored. When the test ends the window is closed, and
 * the test fails if the page broke its content security policy, threw, made the browser log an error or a warning, or
 * asked another host.
 */
export async function visit (t: Test, url: string, options: VisitOptions = {}): Promise<Page> {
  const { page, faults } = await openWindow(t, url, options)
  const { expected = [] } = options
  t.teardown(async () => {
    const unexpected = faults.filter(fault => !expected.some(pattern => pattern.test(fault)))
    if (unexpected.length === 0) return
    // An error of a teardown fails the test, but its text is not reported.
    process.stderr.write(`The page of "${t.fullname}" did wrong:\n${unexpected.join('\n')}\n`)
    throw new Error('the page did wrong')
  })
  return page
}

/** The same, for tests that look at the faults themselves. */
export async function openWindow (
  t: Test,
  url: string,
  options: VisitOptions = {}
): Promise<{ page: Page, faults: string[] }> {
  const { path = '/console', width = 1_280, height = 800, colorScheme = 'light', prepare } = options
  const context = await newWindow(t, { viewport: { width, height }, colorScheme, reducedMotion: 'reduce' })
  context.setDefaultTimeout(DEADLINE)
  const faults = collectFaults(context, new URL(url).host)
  await context.addInitScript(REPORT_VIOLATIONS)
  await prepare?.(context)
  const page = await context.newPage()
  await page.goto(url + path)
  return { page, faults }
}

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', event => {
  console.error('violation of ' + event.violatedDirective + ': ' + event.blockedURI + ' ' + event.sample)
})`

/** What went wrong in the pages of a window, as it happens. */
function collectFaults (context: BrowserContext, host: string): string[] {
  const faults: string[] = []
  const see = (address: string): void => {
    const { protocol, host: asked } = new URL(address)
    if (!/^(data|blob|about):$/.test(protocol) && asked !== host) faults.push(`asked ${address}`)
  }
  context.on('request', request => see(request.url()))
  context.on('console', message => {
    if (/^(error|warning)$/.test(message.type())) faults.push(`${message.text()} at ${message.location().url}`)
  })
  context.on('weberror', fault => faults.push(`threw ${fault.error().stack ?? fault.error().message}`))
  context.on('page', page => page.on('websocket', socket => see(socket.url())))
  return faults
}
