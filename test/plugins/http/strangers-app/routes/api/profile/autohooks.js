export default async function (app) {
  app.addHook('onRequest', async (request, reply) => {
    if (request.session.member === undefined) reply.unauthorized('Sign in first')
  })
}
