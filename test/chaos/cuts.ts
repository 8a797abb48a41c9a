import { openSession, post } from '../support/http-requests.js'
import { initialize } from '../support/messages.js'
import { Report } from '../support/report.js'
import { CutStream, numbers } from './cut-stream.js'
import { Gateway } from './gateway.js'
import { scenario } from './scenario.js'

/** Streams that are cut again and again while many events are sent: nothing is lost, doubled or reordered. */
export const cuts = scenario({ events: 10_000, cuts: 200 }, async ({ events, cuts }) => {
  const report = new Report(`cuts: ${events} events on a stream that is cut ${cuts} times`)
  const gateway = await Gateway.start()
  await cutStreams(report, [gateway.port], { events, cuts })
  report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
  await gateway.end()
  return report
})

/** `together`: both streams are of one session, at the same time. */
export interface CutOptions { events: number, cuts: number, perTurn?: number, together?: boolean }

/** Reads the events of a session and of a reply over many connections, each to the next of the gateways. */
export async function cutStreams (report: Report, ports: number[], options: CutOptions, name = ''): Promise<void> {
  const session = await openSession(ports[0] ?? 0, initialize())
  const first = cutStream(report, ports, session, false, options, name)
  if (options.together !== true) await first
  await Promise.all([first, cutStream(report, ports, session, true, options, name)])
}

async function cutStream (
  report: Report,
  ports: number[],
  session: string,
  own: boolean,
  { events, cuts, perTurn }: CutOptions,
  name: string
): Promise<void> {
  const stream = new CutStream(ports, session, own ? numbers(events, true, perTurn) : undefined)
  const reading = stream.read(events, cuts)
  if (!own) await post(ports[0] ?? 0, '/mcp', numbers(events, false, perTurn), [['Mcp-Session-Id', session]])
  const begun = performance.now()
  await reading
  const { lost, double, outOfOrder } = stream.verdict(events)
  report.row({
    stream: `${own ? 'a reply' : 'of the session'}${name}`,
    events: stream.numbers.length,
    cuts: stream.cuts,
    lost,
    double,
    'out of order': outOfOrder,
    foreign: stream.foreign,
    repeated: stream.repeated,
    refused: stream.refused,
    seconds: (performance.now() - begun) / 1000
  })
  report.promise(lost === 0, `no event is lost, not ${lost}${name}`)
  report.promise(stream.numbers.length === events && outOfOrder === 0, `every event comes once and in order${name}`)
  report.promise(stream.foreign === 0, `no event of another stream comes, not ${stream.foreign}${name}`)
  report.promise(stream.cuts >= cuts, `the stream is cut ${cuts} times, not ${stream.cuts}${name}`)
  report.promise(!own || stream.answered, `the reply is answered in the end${name}`)
}
