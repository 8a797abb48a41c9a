import t from 'tap'
import { gateway } from '../../support/gateway.js'
import { connectionsAmong, limitIn, openFilesLimit } from '../../../system/process/usage.js'

const LIMITS =
  'Limit                     Soft Limit           Hard Limit           Units     \nMax processes             95000                95000                processes \nMax open files            1024                 4096                 files     \n'

t.test('the limit of open files is read from the limits file of Linux', async t => {
  t.equal(limitIn(LIMITS), 1_024)
  t.equal(limitIn(LIMITS.replace(/1024/, 'unlimited')), undefined)
  t.equal(limitIn(''), undefined)
  if (process.platform === 'linux') t.ok((openFilesLimit() ?? Infinity) > 0)
})

t.test('about a hundred descriptors are kept for other things than connections', async t => {
  t.strictSame([65_536, 1_024, 256, 120, 64].map(connectionsAmong), [65_436, 924, 156, 30, 16])
})

t.test('an error of a listening server does not end the gateway', async t => {
  const app = await gateway(t)
  await app.listen({ port: 0, host: '127.0.0.1' })
  app.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  t.equal((await fetch(`http://127.0.0.1:${(app.server.address() as { port: number }).port}/health`)).status, 200)
})
