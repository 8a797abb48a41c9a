import { Type, type Static } from '@sinclair/typebox'
import { ToolOverrides } from '../protocol/definitions/overrides/override.js'
import { ResultOptions } from '../protocol/definitions/result-options.js'
import { isReservedPath } from '../protocol/http/reserved-paths.js'
import type { Mistake } from './mistakes.js'
import { wrongOverrides } from './overrides.js'

const Patterns = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { 'x-expected': 'must be a list of names or globs', description })
  )
const Flag = (description: string) =>
  Type.Optional(Type.Boolean({ 'x-expected': 'must be true or false', description }))
const Text = (description: string) => Type.Optional(Type.String({ 'x-expected': 'must be a text', description }))

const SCOPE = '^[!#-\\[\\]-~]{1,128}$'

/** How the tools of a view are found. */
export interface SearchOptions { always?: string[], limit?: number }

/** One view: the part of everything that clients of its URL see. */
export const ViewOptions = Type.Object(
  {
    description: Text('What the view is for, for people who choose one'),
    servers: Patterns('The upstream servers whose tools, resources and prompts are in the view'),
    tools: Patterns(
      'The tools that are in the view besides those of `servers`, as names or globs such as `github__*`; none at all where the list is empty'
    ),
    resources: Patterns(
      'The resources that are in the view besides those of `servers`: URIs or globs, behind the name of the server and `+` where they are of one, such as `docs+*`'
    ),
    prompts: Patterns('The prompts that are in the view besides those of `servers`, as names or globs'),
    exclude: Patterns(
      'The tools, resources and prompts that are not in the view, whatever else is said, as names or globs'
    ),
    readOnly: Flag('Keep only the tools that say `readOnlyHint: true` of themselves'),
    names: Type.Optional(
      Type.Unsafe<'long' | 'short'>({
        type: 'string',
        enum: ['long', 'short'],
        'x-expected': 'must be long or short',
        description: '`short` lists tools and prompts of servers by their own names, without that of the server'
      })
    ),
    scopes: Type.Optional(
      Type.Array(
        Type.String({
          pattern: SCOPE,
          'x-expected': 'must be a scope: up to 128 characters, without spaces and quotes'
        }),
        {
          description: 'The scopes that a caller needs for everything in the view, besides those that each thing needs'
        }
      )
    ),
    instructions: Text(
      'The instructions that clients of the view get, in place of those of the gateway and the servers'
    ),
    search: Type.Optional(
      Type.Unsafe<boolean | SearchOptions>({
        type: ['boolean', 'object'],
        properties: {
          always: Type.Array(Type.String({ minLength: 1 }), {
            'x-expected': 'must be a list of names or globs',
            description: 'The tools that are listed all the same, as names or globs'
          }),
          limit: Type.Integer({
            minimum: 1,
            maximum: 50,
            'x-expected': 'must be a whole number from 1 to 50',
            description: 'How many tools a search finds, unless it asks for another number; 8 when absent'
          })
        },
        additionalProperties: false,
        'x-expected': 'must be true, false, or an object with "always" and "limit"',
        description:
          'List `find_tools`, `describe_tools` and `call_tool` in place of the tools, which are found by these and called by their names'
      })
    ),
    override: ToolOverrides('Changes how tools look in the view, by their names on `/mcp`'),
    resourcesAsTools: Flag('List the tools `list_resources` and `read_resource`, for clients without resources'),
    results: Type.Optional(ResultOptions)
  },
  { additionalProperties: false }
)

export type ViewOptions = Static<typeof ViewOptions>

/** The parts of everything that clients see. */
export const curation = {
  views: Type.Record(Type.String(), ViewOptions, {
    default: {},
    examples: [{ release: { servers: ['github'], exclude: ['*__delete_*'], readOnly: true } }],
    description:
      'Parts of everything that is served, each at a URL of its own such as `/mcp/release`: [Views](views.md)'
  }),
  view: Type.Optional(
    Type.String({
      minLength: 1,
      'x-expected': 'must be the name of a view',
      description: 'The view that the stdio client sees; everything without it'
    })
  )
}

/** The names of views are like the aliases of servers, beside which they stand in URLs. */
const NAME = /^(?=.{1,32}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** The mistakes in views that a pattern cannot express. */
export function wrongViews (views: Readonly<Record<string, ViewOptions>>): Mistake[] {
  return [
    ...wrongViewNames(views),
    ...Object.entries(views).flatMap(([name, { override = {} }]) => wrongOverrides(override, `views.${name}.override`)),
  ]
}

function wrongViewNames (views: Readonly<Record<string, ViewOptions>>): Mistake[] {
  return Object.keys(views).flatMap(name => {
    if (isReservedPath(name)) {
      return [
        mistake(
          name,
          `cannot have this name, because /mcp/${name} is a URL of the gateway itself; give it another name`
        )
      ]
    }
    return NAME.test(name)
      ? []
      : [
          mistake(
            name,
            'cannot have this name: it is made of up to 32 lower-case letters, digits and single dashes, first a letter'
          )
        ]
  })
}

/** The views whose URL an upstream server has. */
export function takenViewNames (
  views: Readonly<Record<string, ViewOptions>>,
  servers: Iterable<{ readonly alias: string, readonly name: string }>
): Mistake[] {
  const taken = new Map([...servers].map(({ alias, name }) => [alias, name]))
  return Object.keys(views)
    .filter(name => taken.has(name))
    .map(name =>
      mistake(
        name,
        `and the upstream server "${taken.get(name) ?? ''}" would both be served at /mcp/${name}; rename one of them`
      )
    )
}

/** The views in which two things would have one name. */
export function clashingNames (
  clashes: ReadonlyArray<{
    readonly view: string
    readonly name: string
    readonly canonical: readonly string[]
    readonly isShort: boolean
  }>
): Mistake[] {
  return clashes.map(({ view, name, canonical, isShort }) => {
    const [where, remedy] = isShort
      ? ['names "short"', 'use long names']
      : ['an override', 'choose another name']
    const both = canonical.map(each => `"${each}"`).join(' and ')
    return mistake(view, `has ${where}, and ${both} would both be called "${name}"; exclude one of them, or ${remedy}`)
  })
}

const mistake = (name: string, text: string): Mistake => ({
  path: `views.${name}`,
  text: `option views.${name} ${text}`
})
