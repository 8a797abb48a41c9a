import type { ToolOverrides } from '../protocol/definitions/overrides/override.js'
import type { Mistake } from './mistakes.js'

/** Finds the mistakes in overrides that a pattern cannot express; `path` is where they are in the options. */
export function wrongOverrides (overrides: ToolOverrides, path: string): Mistake[] {
  return Object.entries(overrides).flatMap(([tool, { arguments: args = {} }]) => {
    const place = `${path}.${tool}.arguments`
    const named = new Map<string, string>()
    return Object.entries(args).flatMap(([name, { value, ...rest }]) => {
      const [useless] = value === undefined ? [] : Object.keys(rest)
      if (useless !== undefined) {
        const why = `has a value, which hides the argument, so that ${useless} has no meaning; remove one of them`
        return [mistake(`${place}.${name}`, why)]
      }
      if (rest.name === undefined) return []
      const other = named.get(rest.name)
      named.set(rest.name, name)
      return other === undefined
        ? []
        : [mistake(`${place}.${name}.name`, `is also the name of "${other}"; give one of them another name`)]
    })
  })
}

const mistake = (path: string, sentence: string): Mistake => ({ path, text: `option ${path} ${sentence}` })
