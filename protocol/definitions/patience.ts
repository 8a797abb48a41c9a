import { Type, type Static } from '@sinclair/typebox'

/** The least that may be set, in milliseconds: a call that ends within it costs nothing more. */
const LEAST = 100
const MOST = 2 ** 31 - 1
/** Says what it must be. */
export const PATIENCE_SHAPE = `must be "client", a whole number of milliseconds from ${LEAST} on, or false`

/** How long a client waits for a call of a tool before it is answered early. */
export const Patience = Type.Union(
  [Type.Literal('client'), Type.Literal(false), Type.Integer({ minimum: LEAST, maximum: MOST })],
  {
    'x-expected': PATIENCE_SHAPE,
    description:
      'After how many milliseconds a call that still runs is answered with where its result will be, or `client`: shortly before its client gives up. Without it, never: [Patience](patience.md)'
  }
)

export type Patience = Static<typeof Patience>

/** True for a value that an author may give, who need not give one. */
export const isPatience = (value: unknown): value is Patience | undefined =>
  value === undefined || value === false || value === 'client' ||
  (Number.isSafeInteger(value) && Number(value) >= LEAST && Number(value) <= MOST)

/** True for patience that a call may outlast. */
export const hasEnd = (patience: Patience | undefined): patience is Exclude<Patience, false> =>
  patience !== undefined && patience !== false

/**
 * The members of a tool that its patience decides, where it is set: it lists no output schema, which an early answer
 * would not fit.
 */
export function withPatience<L extends Record<string, unknown>> (
  listed: L,
  patience: Patience | undefined
): { listed: Record<string, unknown>, patience?: Patience } {
  if (patience === undefined) return { listed }
  const { outputSchema, ...rest } = listed
  return { listed: !hasEnd(patience) || outputSchema === undefined ? listed : rest, patience }
}
