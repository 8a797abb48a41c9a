import fp from 'fastify-plugin'

/** Members and their roles, who sign in with their name as the password. */
const MEMBERS = new Map([['ada', ['member', 'admin']], ['bob', ['member']]])

export default fp(async app => {
  app.decorate('members', MEMBERS)
  app.decorateRequest('verifyRole', async function (reply, role) {
    const { roles } = this.user
    if (!roles.includes(role)) throw app.httpErrors.forbidden(`Only for the role ${role}`)
  })
}, { name: 'authorization' })
