import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { answerChecker } from '../../protocol/questions/answers.js'
import { convert } from '../../protocol/revisions/convert.js'

const METHOD = 'sampling/createMessage'
const Answer = Type.Object({
  role: Type.String(),
  content: Type.Union([Type.Object({}), Type.Array(Type.Object({}))]),
  model: Type.String()
})

/** Lets a call ask the client's model. */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.clientRequestKinds.add(METHOD, {
    needs: ({ tools }) => ({ sampling: tools === undefined ? {} : { tools: {} } }),
    known: () => true,
    params: (params, { features }) => convert.sampling(params, features),
    answer: answerChecker(METHOD, Answer)
  })
}, { name: 'patchbay-sampling', dependencies: ['patchbay-mcp'] })
