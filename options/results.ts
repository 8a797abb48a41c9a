import type { ResultOptions } from '../protocol/definitions/result-options.js'
import type { Mistake } from './mistakes.js'

/** A server or a view, as far as it has expressions. */
interface WithResults {
  readonly results?: ResultOptions | undefined
  readonly override?: Readonly<Record<string, { readonly results?: ResultOptions | undefined }>> | undefined
}

/** An expression, and the option that has it. */
interface PlacedExpression { readonly path: string, readonly expression: string }

/** The expressions of `select` in views, by name, and in the entries of servers. */
export function expressionsIn (
  views: Readonly<Record<string, WithResults>>,
  servers: ReadonlyArray<WithResults & { readonly name: string }>
): PlacedExpression[] {
  return [
    ...Object.entries(views).flatMap(([name, view]) => expressionsOf(`views.${name}`, view)),
    ...servers.flatMap(server => expressionsOf(`mcpServers.${server.name}`, server))
  ]
}

function expressionsOf (path: string, { results, override = {} }: WithResults): PlacedExpression[] {
  const places = [
    { path: `${path}.results.select`, expression: results?.select },
    ...Object.entries(override).map(([tool, { results }]) => ({
      path: `${path}.override.${tool}.results.select`,
      expression: results?.select
    }))
  ]
  return places.filter((place): place is PlacedExpression => place.expression !== undefined)
}

/** Mistakes for the expressions that are none; `explain` says what is wrong with one. */
export async function wrongExpressions (
  expressions: readonly PlacedExpression[],
  explain: (expression: string) => Promise<string | undefined>
): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  for (const { path, expression } of expressions) {
    const why = await explain(expression)
    if (why !== undefined) mistakes.push({ path, text: `option ${path} must be a JMESPath expression: ${why}` })
  }
  return mistakes
}
