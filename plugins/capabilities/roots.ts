import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { answerChecker } from '../../protocol/questions/answers.js'

const METHOD = 'roots/list'
const Answer = Type.Object({
  roots: Type.Array(Type.Object({ uri: Type.String(), name: Type.Optional(Type.String()) }))
})

/** Lets a call ask which folders the client works in. */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.clientRequestKinds.add(METHOD, {
    needs: () => ({ roots: {} }),
    known: () => true,
    params: () => undefined,
    answer: answerChecker(METHOD, Answer)
  })
}, { name: 'patchbay-roots', dependencies: ['patchbay-mcp'] })
