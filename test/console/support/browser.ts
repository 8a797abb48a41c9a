import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import type { Owner } from '../../support/owner.js'

const { pathOf } = (await import(new URL('../../../../scripts/test-setup.mjs', import.meta.url).href)) as {
  pathOf: (program: string) => string | undefined
}
const program = pathOf('chromium')

/** In milliseconds. Starting a browser takes under a second on a quiet machine. */
const START = 120_000

/** For tests that need a browser: skipped where there is none. */
export const withBrowser = { skip: program === undefined && 'not installed: chromium' }

/** In milliseconds: the next test, or the next test file, opens a window sooner than this. */
const IDLE = 1_000

let started: Promise<Browser> | undefined
let windows = 0
let idle: NodeJS.Timeout | undefined

/**
 * A window of the browser of this process, which all test files share. The browser ends soon after the last window was
 * closed.
 */
export async function newWindow (t: Owner, options: BrowserContextOptions): Promise<BrowserContext> {
  clearTimeout(idle)
  windows++
  started ??= start()
  const window = await (await started).newContext(options)
  t.teardown(async () => {
    await window.close()
    if (--windows === 0) idle = setTimeout(() => { void end() }, IDLE)
  })
  return window
}

async function end (): Promise<void> {
  const ending = started
  started = undefined
  await (await ending)?.close()
}

async function start (): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  // It writes to the folder of its user, which is not to be the one who runs the tests.
  const home = mkdtempSync(join(tmpdir(), 'patchbay-browser-'))
  const launched = await chromium.launch({
    executablePath: program ?? 'chromium',
    // No name but that of this machine is found, whatever a page tries.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    timeout: START,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false
  })
  launched.on('disconnected', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return launched
}
