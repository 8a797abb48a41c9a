/** Says of every reply below /api that nothing may keep it. */
export default async function (app) {
  app.addHook('onSend', async (request, reply) => {
    reply.header('cache-control', 'no-store')
  })
}
