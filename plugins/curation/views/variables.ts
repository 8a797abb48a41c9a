import { withFixedValues } from '../../../protocol/definitions/overrides/override.js'
import { processSurroundings } from '../../../system/environment.js'
import { expandVariables, mapTexts } from '../../../system/variables.js'
import type { ViewDefinitions } from './selection.js'

/** A variable without a value: the option that has it, and a sentence without a value in it. */
export interface MissingVariable { readonly path: string, readonly text: string }

/** The views with the variables in fixed values of their overrides replaced, and those that have no value. */
export function expandViews (
  views: ViewDefinitions,
  maxFile: number
): { readonly views: ViewDefinitions, readonly missing: MissingVariable[] } {
  const { env, home, cwd } = processSurroundings()
  const variables = { env, home, folder: cwd, inputs: new Map<string, string>(), maxFile, onFile: () => {} }
  const missing: MissingVariable[] = []
  const expanded = Object.entries(views).map(([name, view]) => {
    if (view.override === undefined) return [name, view] as const
    const override = withFixedValues(view.override, (value, tool, argument) => {
      const path = `views.${name}.override.${tool}.arguments.${argument}.value`
      return mapTexts(value, text =>
        expandVariables(text, variables, why => missing.push({ path, text: `option ${path} ${why}` })))
    })
    return [name, { ...view, override }] as const
  })
  return { views: Object.fromEntries(expanded), missing }
}
