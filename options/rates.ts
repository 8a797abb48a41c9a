import { Type } from '@sinclair/typebox'
import { Count } from './numbers.js'

const Rate = Type.Integer({ minimum: 1 })

/** How many calls of one caller are accepted in a second. */
export const rates = {
  rate: Count(200_000, 'The most calls of one caller in a second, on average'),
  burst: Count(400_000, 'The most calls of one caller in a second, after a time with fewer calls'),
  toolRates: Type.Record(Type.String(), Rate, { default: { execute_command: 100, web_search: 100 }, examples: [{ web_search: 10 }], description: 'The most calls of one caller in a second to a tool, by tool name' })
}
