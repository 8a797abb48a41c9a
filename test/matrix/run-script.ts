import type { Test } from 'tap'
import type { Revision } from '../support/specification/revisions.js'
import { openCell, type Chapter } from './cell.js'
import type { Place, Transport } from './connection.js'
import { calls } from './script/calls.js'
import { changes } from './script/changes.js'
import { envelopes } from './script/envelopes.js'
import { opening } from './script/opening.js'
import { pagination } from './script/pagination.js'
import { prompts } from './script/prompts.js'
import { questions } from './script/questions.js'
import { resources } from './script/resources.js'
import { tasks } from './script/tasks.js'
import { tools } from './script/tools.js'
import { watching } from './script/watching.js'

/** All chapters but `watching`, which waits most of the time. */
export const script: Record<string, Chapter> = {
  ...opening,
  ...tools,
  ...tasks,
  ...pagination,
  ...resources,
  ...prompts,
  ...calls,
  ...questions,
  ...changes,
  ...envelopes
}

/**
 * Runs the script, or some of its chapters, in one square of the matrix, at a gateway with the shared fixture, that of
 * the matrix, and pages of 2.
 */
export async function runScript (
  t: Test,
  place: Place,
  transport: Transport,
  revision: Revision,
  chapters = { ...script, ...watching }
): Promise<void> {
  await t.test(`${transport.name} in ${revision.version}`, async t => {
    const cell = await openCell(t, place, transport, revision)
    for (const [name, chapter] of Object.entries(chapters)) await t.test(name, async t => await chapter(t, cell))
    t.strictSame(cell.faults, [], 'every message was in order')
  })
}
