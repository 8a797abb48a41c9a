import { Type } from '@sinclair/typebox'
import { ToolError } from '../protocol/wire/errors.js'
import { tool } from '../protocol/definitions/tool.js'

const OPERATIONS = {
  add: { sign: '+', apply: (a: number, b: number) => a + b },
  subtract: { sign: '-', apply: (a: number, b: number) => a - b },
  multiply: { sign: '*', apply: (a: number, b: number) => a * b },
  divide: { sign: '/', apply: (a: number, b: number) => a / b }
} as const

type Operation = keyof typeof OPERATIONS

export default tool({
  name: 'calculate',
  title: 'Calculator',
  description: 'Perform arithmetic operations',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: Type.Object(
    {
      operation: Type.Unsafe<Operation>({
        type: 'string',
        enum: Object.keys(OPERATIONS),
        description: 'What to do with the two numbers'
      }),
      a: Type.Number({ description: 'First operand' }),
      b: Type.Number({ description: 'Second operand' })
    },
    { additionalProperties: false }
  ),
  output: Type.Object({ result: Type.Number() }),
  text: ({ result }, { operation, a, b }) => `${a} ${OPERATIONS[operation].sign} ${b} = ${result}`,
  run: ({ operation, a, b }) => {
    if (operation === 'divide' && b === 0) throw new ToolError('Error: Division by zero')
    const result = OPERATIONS[operation].apply(a, b)
    if (!Number.isFinite(result)) throw new ToolError('Error: The result is too large to be represented')
    return { result }
  }
})
