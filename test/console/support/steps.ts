import type { FastifyInstance } from 'fastify'
import type { Locator, Page } from 'playwright-core'
import { until } from '../../support/wait.js'

/** Waits until the page has a connection and its tools. */
export async function connected (page: Page): Promise<void> {
  await page.getByText('Connected', { exact: true }).first().waitFor()
  await page.locator('.items a').first().waitFor()
}

/** Follows a link of the page's own, as its address would. */
export async function goTo (page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}

/** Opens a tool by its address. */
export async function openTool (page: Page, name: string): Promise<void> {
  await goTo(page, `#/try/tool/${encodeURIComponent(name)}`)
  await page.getByRole('button', { name: 'Call', exact: true }).waitFor()
}

/** Writes arguments into the JSON beside the form. */
export async function writeArguments (page: Page, value: object): Promise<void> {
  await page.getByRole('textbox', { name: 'JSON', exact: true }).first().fill(JSON.stringify(value))
}

/** Presses Call, or what else makes one; returns the part of the page that shows the new call. */
export async function call (page: Page, button = 'Call'): Promise<Locator> {
  const before = await newest(page)
  await page.getByRole('button', { name: button, exact: true }).click()
  return await callAfter(page, before)
}

/** The part of the page that shows the first call after the one of this name. */
export async function callAfter (page: Page, before: string): Promise<Locator> {
  // `waitForFunction` evaluates texts inside of the page, which its policy forbids.
  await until(async () => await newest(page) !== before, 'a new call')
  return page.getByRole('region', { name: await newest(page), exact: true })
}

/** The name of the newest call that is shown; empty if there is none. */
export async function newest (page: Page): Promise<string> {
  return await page.evaluate("document.querySelector('section.call')?.getAttribute('aria-label') ?? ''") as string
}

/** Chooses the revision that the page speaks, and waits until it does. */
export async function chooseEra (
  page: Page,
  revision: '2025-11-25' | '2026-07-28',
  { mcp }: FastifyInstance
): Promise<void> {
  await page.getByLabel('Protocol revision').selectOption({ label: revision })
  await until(
    () => [...mcp.dispatcher.lifecycle.peers].some(({ lastRevision }) => lastRevision?.version === revision),
    `a connection in ${revision}`
  )
  await connected(page)
}

/** What a person can read on the page: its text, and what stands in fields. */
export async function readable (page: Page): Promise<string> {
  return (await page.evaluate(
    "[document.body.textContent, ...Array.from(document.querySelectorAll('input, textarea'), field => field.value)].join('\\n')"
  )) as string
}
