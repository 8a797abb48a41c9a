import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { errors } from '../../protocol/wire/errors.js'
import { convert } from '../../protocol/revisions/convert.js'
import { lazily } from '../../protocol/schema/schema.js'

const Answer = Type.Object({ role: Type.String(), content: Type.Union([Type.Object({}), Type.Array(Type.Object({}))]), model: Type.String() })

const check = lazily(Answer)

/** Lets a call ask the client's model. */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.clientRequestKinds.add('sampling/createMessage', {
    needs: ({ tools }) => ({ sampling: tools === undefined ? {} : { tools: {} } }),
    known: () => true,
    params: (params, { features }) => convert.sampling(params, features),
    answer: answer => {
      const wrong = check(answer)
      if (wrong !== undefined) throw errors.badAnswer('sampling/createMessage', wrong)
      return answer
    }
  })
}, { name: 'patchbay-sampling', dependencies: ['patchbay-mcp'] })
