import { Type } from 'typebox'

export default async function (app) {
  app.get('/', {
    schema: {
      tags: ['Profile'],
      description: 'The member who is signed in',
      response: { 200: Type.Object({ name: Type.String(), roles: Type.Array(Type.String()) }) }
    }
  }, async ({ session }) => session.member)
}
