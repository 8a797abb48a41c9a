import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { errors } from '../../protocol/wire/errors.js'
import type { ElicitAnswer } from '../../protocol/wire/client-answers.js'
import { answerChecker } from '../../protocol/questions/answers.js'
import { elicitation } from '../../protocol/revisions/elicitation.js'
import { compile } from '../../protocol/schema/schema.js'

const METHOD = 'elicitation/create'
const Answer = Type.Object({
  action: Type.Union([Type.Literal('accept'), Type.Literal('decline'), Type.Literal('cancel')]),
  content: Type.Optional(Type.Object({}))
})

const checked = answerChecker(METHOD, Answer)

/** Lets a call ask the user, by a form or by a page in the browser. */
export default fp(async ({ mcp }) => {
  mcp.dispatcher.clientRequestKinds.add(METHOD, {
    needs: ({ url }) => ({ elicitation: url === undefined ? { form: {} } : { url: {} } }),
    known: (params, revision) => elicitation.isKnown(params, revision.features),
    params: (params, revision) => elicitation.params(params, revision.features),
    answer: (answer, { requestedSchema }, revision) => {
      const given = elicitation.answer(
        checked(answer) as ElicitAnswer,
        requestedSchema as object | undefined,
        revision.features
      )
      if (given.action === 'accept' && requestedSchema !== undefined) {
        checkContent(requestedSchema as Record<string, unknown>, given.content)
      }
      return given
    }
  })
}, { name: 'patchbay-elicitation', dependencies: ['patchbay-mcp'] })

function checkContent (schema: Record<string, unknown>, content: unknown = {}): void {
  const wrong = compile(schema)(content)
  if (wrong !== undefined) throw errors.badAnswer(METHOD, wrong)
}
