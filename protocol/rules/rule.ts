import { Type, type Static } from '@sinclair/typebox'

/** The most rules of a configuration, and the most globs or values in one list of a rule. */
export const MAX_RULES = 1_000
/** How deep conditions and matchers may be inside each other. */
export const MAX_DEPTH = 8

const Globs = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 1_024 }), {
      minItems: 1,
      maxItems: MAX_RULES,
      'x-expected': `must be a list of names or globs of ${what}`
    })
  )

/** A rule as operators write it: exactly one of `allow`, `deny` and `ask`, for whom, and with which arguments. */
export const Rule = Type.Object(
  {
    name: Type.Optional(
      Type.String({ pattern: '^[\\w.-]{1,64}$', 'x-expected': 'must be up to 64 letters, digits and . _ -' })
    ),
    allow: Globs('tools, prompts and resources'),
    deny: Globs('tools, prompts and resources'),
    ask: Globs('tools, prompts and resources'),
    for: Type.Optional(
      Type.Unsafe<Condition>({
        type: 'object',
        'x-expected': 'must be an object with "principal", "scope", "claim", "view" or "not"'
      })
    ),
    hints: Type.Optional(
      Type.Object(
        {
          destructive: Type.Optional(Type.Literal(true, { 'x-expected': 'must be true' })),
          readOnly: Type.Optional(Type.Literal(false, { 'x-expected': 'must be false' })),
          openWorld: Type.Optional(Type.Literal(true, { 'x-expected': 'must be true' }))
        },
        {
          additionalProperties: false,
          'x-expected': 'must be an object with "destructive": true, "readOnly": false or "openWorld": true'
        }
      )
    ),
    where: Type.Optional(
      Type.Unsafe<Record<string, Matcher>>({
        type: 'object',
        'x-expected': 'must be an object with a matcher for each argument'
      })
    ),
    by: Type.Optional(
      Type.Unsafe<'caller' | 'operator'>({
        type: 'string',
        enum: ['caller', 'operator'],
        'x-expected': 'must be caller or operator'
      })
    ),
    questions: Type.Optional(
      Type.Unsafe<'operator'>({ type: 'string', const: 'operator', 'x-expected': 'must be operator' })
    ),
    wait: Type.Optional(
      Type.Integer({
        minimum: 1_000,
        maximum: 86_400_000,
        'x-expected': 'must be a whole number of milliseconds from 1000 to 86400000'
      })
    ),
    message: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, 'x-expected': 'must be a text of up to 1000 characters' })
    )
  },
  { additionalProperties: false }
)

export type Rule = Static<typeof Rule>

/** The decision of a rule about what it matches. */
export type Effect = 'allow' | 'deny' | 'ask'

/** The decision about what no rule matches. */
export type RulesDefault = 'allow' | 'deny'

/** The callers that a rule is for: all members hold, each with one of its values. */
export interface Condition {
  readonly principal?: string | readonly string[]
  readonly scope?: string | readonly string[]
  readonly claim?: Readonly<Record<string, Scalar | readonly Scalar[]>>
  readonly view?: string | readonly string[]
  readonly not?: Condition
}

export type Scalar = string | number | boolean

/** The values of an argument that a rule is about; a value alone stands for `{ is: value }`. */
export type Matcher = Scalar | null | {
  readonly is?: Scalar | null
  readonly in?: readonly Scalar[]
  readonly not?: Matcher
  readonly min?: number
  readonly max?: number
  readonly under?: string | readonly string[]
  readonly each?: Matcher
  readonly has?: Matcher
}

/** The effect of a rule, and the globs of what it is about. */
export function effectOf ({ allow, deny, ask }: Pick<Rule, Effect>): { effect: Effect, globs: readonly string[] } {
  if (deny !== undefined) return { effect: 'deny', globs: deny }
  return allow === undefined ? { effect: 'ask', globs: ask ?? [] } : { effect: 'allow', globs: allow }
}

/** The name of a rule for operators: its own, or its place in the option. */
export const labelOf = ({ name }: Pick<Rule, 'name'>, index: number): string => name ?? `rules.${index}`
