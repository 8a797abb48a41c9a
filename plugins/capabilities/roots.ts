import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { errors } from '../../protocol/wire/errors.js'
import { lazily } from '../../protocol/schema/schema.js'

const Answer = Type.Object({ roots: Type.Array(Type.Object({ uri: Type.String(), name: Type.Optional(Type.String()) })) })

const check = lazily(Answer)

/** Lets a call ask which folders the client works in. */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.clientRequestKinds.add('roots/list', {
    needs: () => ({ roots: {} }),
    known: () => true,
    params: () => undefined,
    answer: answer => {
      const wrong = check(answer)
      if (wrong !== undefined) throw errors.badAnswer('roots/list', wrong)
      return answer
    }
  })
}, { name: 'patchbay-roots', dependencies: ['patchbay-mcp'] })
