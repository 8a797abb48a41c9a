import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { resource, tool, Type } from '../../../app.js'

/** The page of docs/apps.md, as it stands there. */
export const DICE = (/const HTML = `([^`]*)`/.exec(
  readFileSync(new URL('../../../../docs/apps.md', import.meta.url), 'utf8')
) ?? [])[1] ?? ''

export const PAGE = 'ui://dice/page.html'

/** The tool of docs/apps.md, with this page, and two that the page of another tool may not call. */
export async function dice (
  app: FastifyInstance,
  { html = DICE, csp = {} }: { html?: string, csp?: object } = {}
): Promise<void> {
  app.mcp.tools.add(tool({
    name: 'roll_dice',
    description: 'Rolls some dice.',
    input: Type.Object({ count: Type.Integer({ minimum: 1, maximum: 12 }) }),
    output: Type.Object({ dice: Type.Array(Type.Integer()) }),
    text: ({ dice }) => `The dice show ${dice.join(', ')}.`,
    ui: { resourceUri: PAGE },
    run: ({ count }) => ({ dice: Array.from({ length: count }, () => 6) })
  }))
  app.mcp.tools.add(tool({ name: 'for_models', description: 'For models', ui: { visibility: ['model'] }, run: () => 'no' }))
  app.mcp.tools.add(tool({
    name: 'remove_dice',
    description: 'Removes them',
    annotations: { destructiveHint: true },
    run: () => 'removed'
  }))
  app.mcp.resources.add(resource({ uri: PAGE, name: 'page', ui: { csp }, read: () => html }))
}
