import type { Page } from 'playwright-core'
import { build } from '../../../app.js'
import type { Owner } from '../../support/owner.js'
import { newWindow } from './browser.js'
import { call, connected, openTool, writeArguments } from './steps.js'

export const SCHEMES = ['light', 'dark'] as const

const ROOT = new URL('../../../../', import.meta.url)

/** What the pictures show, as text. */
export const WORDS = new URL('test/console/support/picture.txt', ROOT)

export const pictureOf = (scheme: string): URL => new URL(`docs/images/console-${scheme}.png`, ROOT)

/** The page as the pictures of the README show it: one tool, called by its form. */
export async function showPicture (t: Owner, colorScheme: typeof SCHEMES[number]): Promise<Page> {
  const app = await build({ plugins: [], console: true, grace: 1_000, limits: { maxEventLoopDelay: 60_000 } })
  t.teardown(async () => await app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const window = await newWindow(t, { viewport: { width: 1_280, height: 800 }, colorScheme, reducedMotion: 'reduce' })
  const page = await window.newPage()
  await page.goto(`${url}/console`)
  await connected(page)
  await openTool(page, 'calculate')
  await writeArguments(page, { operation: 'add', a: 5, b: 3 })
  const view = await call(page)
  await view.getByText('5 + 3 = 8').first().waitFor()
  await view.getByText('fits outputSchema').waitFor()
  await page.evaluate('document.activeElement.blur()')
  return page
}

/** The structure and texts of the page, without what differs each time. */
export async function wordsOf (page: Page): Promise<string> {
  const text = await page.locator('body').ariaSnapshot()
  return (
    text
      .replaceAll(/\d+:\d\d(:\d\d)?( [AP]M)?/g, 'TIME')
      .replaceAll(/(under |< ?)?\d[\d.,]* (ms|s)\b/g, 'DURATION')
      .replaceAll(/\b\d+\.\d+\.\d+\b/g, 'VERSION') + '\n'
  )
}
