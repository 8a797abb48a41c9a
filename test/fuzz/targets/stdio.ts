import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { serveStdio } from '../../../app.js'
import { readLines } from '../../support/connections.js'
import type { Case } from '../case.js'
import { Conversation, handshake, PROBE } from '../conversation.js'
import { startsWithHandshake } from '../openings.js'
import { MAX_MESSAGE } from '../expect.js'
import { censusOf, openGateway, type Plugin } from '../gateway.js'
import { inPieces, linesOf } from '../pieces.js'
import type { Outcome, Target } from '../target.js'
import { inTime, Wait } from '../waiting.js'

const PACE = 30

/** The stdio transport on streams of this process: one client a case, cut into lines by the transport itself. */
export async function openStdio (plugins: Plugin[] = []): Promise<Target> {
  const app = await openGateway(plugins)
  return {
    run: async input => await runLines(app, input),
    probe: async () =>
      (
        await runLines(app, {
          target: 'stdio',
          opening: 'none',
          steps: [{ bytes: Buffer.from(PROBE) }],
          answers: [],
          burst: true,
          cut: 0
        })
      ).faults.length === 0,
    census: async () => await censusOf(app),
    close: async () => await app.close()
  }
}

async function runLines (app: FastifyInstance, input: Case): Promise<Outcome> {
  const talk = new Conversation(input)
  const [inward, outward] = [new PassThrough(), new PassThrough()]
  const { closed } = serveStdio(app.mcp, { input: inward, output: outward, maxMessage: MAX_MESSAGE })
  let wait: Wait | undefined
  const lines: string[] = []
  const send = (bytes: Buffer, cut = input.cut) => {
    for (const line of linesOf(talk.filled(bytes))) talk.send(line)
    for (const piece of inPieces(Buffer.concat([talk.filled(bytes), Buffer.from('\n')]), cut)) inward.write(piece)
  }
  readLines(outward, line => {
    if (lines.push(line) === 1 && startsWithHandshake(input.opening)) return
    for (const answer of talk.receive(line)) if (inward.writable) send(answer)
    wait?.look()
  })
  const complete = async (ms?: number) => {
    wait = new Wait(() => talk.complete, ms)
    await wait.promise
  }

  if (startsWithHandshake(input.opening)) {
    for (const text of Object.values(handshake(input.opening))) inward.write(`${text}\n`)
  }
  for (const { bytes } of input.steps) {
    send(bytes)
    if (!input.burst) await complete(PACE)
  }
  await complete()
  inward.end()
  if (await inTime(closed.then(() => true)) !== true) talk.faults.push({ kind: 'hang', text: 'stdio does not end' })
  talk.faults.push(...talk.shortfall(), ...talk.judge())
  return { faults: talk.faults, signatures: talk.signatures() }
}
