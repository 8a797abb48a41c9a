import t from 'tap'
import { Inquiries } from '../../../protocol/nodes/inquiries.js'
import type { NodeMessage, RefreshQuestion } from '../../../protocol/nodes/message.js'
import { errors } from '../../../protocol/wire/errors.js'
import { fakeNodes } from '../../support/nodes/fake-nodes.js'

const QUESTION: RefreshQuestion = { kind: 'refresh', session: 's' }
const OTHER = 'bbbbbbbbbbbb'
const MILLISECONDS = 20

t.test('a node that is dead, stopped or cut off is waited for no longer than allowed, and nothing is kept', async t => {
  const awake = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(awake))
  const { nodes, sent, receive } = fakeNodes()
  const inquiries = new Inquiries(nodes)
  const stop = inquiries.start()
  const ask = async () => await inquiries.ask(OTHER, QUESTION, MILLISECONDS)

  nodes.send = async () => false
  t.equal(await ask(), undefined, 'a node that is dead')
  nodes.send = async (_node, message) => { sent.push(message); return true }
  t.equal(await ask(), undefined, 'a node that is stopped, or whose answer is lost')
  nodes.send = async () => { throw errors.storage('no') }
  await t.rejects(ask(), { message: /Storage failed/ })
  t.equal(inquiries.size, 0)

  nodes.send = async (_node, message) => {
    const { number } = message as { number: number }
    receive({ kind: 'answer', number, answer: 'forged' }, 'cccccccccccc')
    receive({ kind: 'answer', number: number + 1, answer: 'of another question' }, OTHER)
    receive({ kind: 'answer', number: number - 1, answer: 'too late' }, OTHER)
    receive({ kind: 'answer', number, answer: 'right' }, OTHER)
    receive({ kind: 'answer', number, answer: 'twice' }, OTHER)
    return true
  }
  t.equal(await ask(), 'right')
  t.equal(inquiries.size, 0)
  stop()
  t.equal(await ask(), undefined, 'an answer is not taken any more')
  t.equal(inquiries.size, 0)
})

t.test('a question that no handler answers, or whose handler fails, harms no other', async t => {
  const { nodes, sent, receive } = fakeNodes()
  const inquiries = new Inquiries(nodes)
  t.teardown(inquiries.start())
  inquiries.on('handover', async () => { throw new Error('failed') })
  inquiries.on('refresh', async ({ session }) => session)
  receive({ kind: 'question', number: 1, question: { kind: 'handover', session: 's' } }, OTHER)
  receive({ kind: 'question', number: 2, question: { kind: 'of a newer version' } } as unknown as NodeMessage, OTHER)
  receive({ kind: 'question', number: 3, question: QUESTION }, OTHER)
  await new Promise(setImmediate)
  t.strictSame(sent, [{ kind: 'answer', number: 2, answer: undefined }, { kind: 'answer', number: 3, answer: 's' }])
})
