import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import session from '@fastify/session'
import fp from 'fastify-plugin'

const SECRET = 'a secret of the tests, of more than 32 characters'

export default fp(async app => {
  await app.register(cookie)
  await app.register(session, {
    secret: SECRET,
    cookieName: 'sid',
    saveUninitialized: false,
    cookie: { secure: false, httpOnly: true, maxAge: 3_600_000 }
  })
  await app.register(jwt, { secret: SECRET, sign: { expiresIn: '10m' } })
}, { name: 'sign-in', dependencies: ['safety'] })
