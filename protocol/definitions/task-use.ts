import { Type, type Static } from '@sinclair/typebox'

/** How calls of a tool become tasks: `may` those that take long, `must` all. */
export const TaskUse = Type.Union([Type.Literal('never'), Type.Literal('may'), Type.Literal('must')], {
  'x-expected': 'must be never, may or must',
  description:
    'Whether calls become tasks for clients that know them: `may` those that take long, `must` all, `never`. Without it, what the server says: [Tasks](tasks.md)'
})

export type TaskUse = Static<typeof TaskUse>

/** The members of a tool that decide whether its calls become tasks; none where nothing is set. */
export function taskMembers (task: unknown): { listed: object, tool: { task?: 'may' | 'must' } } {
  if (task === undefined || task === 'never') return { listed: {}, tool: {} }
  if (task !== 'may' && task !== 'must') throw new Error('task has to be "never", "may" or "must"')
  return { listed: { execution: { taskSupport: task === 'may' ? 'optional' : 'required' } }, tool: { task } }
}

/** The members of a tool whose operator decides it; none where nothing is set. */
export function withTask<L extends Record<string, unknown>> (
  { execution, ...listed }: L,
  task: TaskUse | undefined
): { listed?: Record<string, unknown>, task?: 'may' | 'must' | undefined } {
  if (task === undefined) return {}
  const members = taskMembers(task)
  return { listed: { ...listed, ...members.listed }, task: members.tool.task }
}
