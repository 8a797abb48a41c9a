export default async function (app) {
  app.addHook('onRequest', async request => {
    await request.jwtVerify()
  })
}
