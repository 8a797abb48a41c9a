import type { Report, Scenario } from '../support/report.js'

/** A program that harms a gateway, or what is around it. For tables: all options are numbers, whichever there are. */
export function scenario<Options extends Record<string, number>> (
  defaults: Options,
  run: (options: Options) => Promise<Report>
): Scenario {
  return { defaults, run: async options => await run(options as Options) }
}
