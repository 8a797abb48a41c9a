import { Type } from '@sinclair/typebox'

const Rate = Type.Integer({ minimum: 1 })

/** How many calls of one caller are accepted in a second. */
export const rates = {
  rate: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The most calls of one caller in a second, on average. Without it they are not counted'
    })
  ),
  burst: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The most calls of one caller in a second, after a time with fewer calls. Default: twice `rate`'
    })
  ),
  toolRates: Type.Record(Type.String(), Rate, {
    default: { execute_command: 100, web_search: 100 },
    examples: [{ web_search: 10 }],
    description: 'The most calls of one caller in a second to a tool, by tool name'
  })
}
