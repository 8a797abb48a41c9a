import { Type } from 'typebox'

/** Signs members in, for browsers with a session and for programs with a token. */
export default async function (app) {
  app.post('/login', {
    schema: {
      tags: ['Sign in'],
      body: Type.Object({ name: Type.String(), password: Type.String() }),
      response: { 200: Type.Object({ token: Type.String() }), 401: Type.Ref('Problem') }
    }
  }, async ({ body: { name, password }, session }, reply) => {
    const roles = app.members.get(name)
    if (roles === undefined || password !== name) return reply.unauthorized('Wrong name or password')
    session.member = { name, roles }
    await session.save()
    return { token: await reply.jwtSign({ name, roles }) }
  })
}
