import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const WIDTHS = [1_280, 320]

interface Violation { id: string, help: string, nodes: Array<{ html: string, failureSummary: string }> }

let source: string | undefined

/**
 * Fails for each rule of WCAG 2.2 AA that axe finds broken, in light and dark, wide and narrow, and if a narrow page
 * scrolls sideways.
 */
export async function checkAccessibility (t: Test, page: Page, view: string): Promise<void> {
  const size = page.viewportSize() ?? { width: 1_280, height: 800 }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: size.height })
    const widest = Number(await page.evaluate('document.documentElement.scrollWidth'))
    t.ok(widest <= width, `${view}, ${width} px wide: nothing is wider than the window (${widest} px)`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      t.strictSame(await violations(page), [], `${view}, ${width} px wide, ${colorScheme}`)
    }
  }
  await page.setViewportSize(size)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** What axe finds, one text for each element. */
export async function violations (page: Page): Promise<string[]> {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // A script element would break the policy of the page, which is what is tested.
  if (await page.evaluate('typeof axe') === 'undefined') await page.evaluate(source)
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`
  )) as Violation[]
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html}\n${failureSummary}`)
  )
}
