export const END_OF_CHUNKS = Buffer.from('0\r\n\r\n')

export const statusOf = (reply: Buffer): number => Number(reply.toString('latin1', 9, 12))

/**
 * The message in a whole reply whose body starts there, and the session that it opened. Throws when it is a refusal.
 */
export function readReply (
  reply: Buffer,
  start: number,
  chunked: boolean
): { session: string | undefined, text: string } {
  if (![200, 202, 204].includes(statusOf(reply))) throw new Error(`refused: ${reply.toString('utf8', 0, 600)}`)
  const head = reply.toString('latin1', 0, start)
  const body = String(chunked ? withoutChunks(reply.subarray(start)) : reply.subarray(start))
  return {
    session: /\r\nmcp-session-id: *([^\r]+)/i.exec(head)?.[1],
    text: /\r\ncontent-type: *text\/event-stream/i.test(head) ? answerIn(body) : body
  }
}

function withoutChunks (bytes: Buffer): Buffer {
  const end = bytes.indexOf('\r\n')
  const size = parseInt(bytes.toString('latin1', 0, end), 16)
  return size === 0
    ? Buffer.alloc(0)
    : Buffer.concat([bytes.subarray(end + 2, end + 2 + size), withoutChunks(bytes.subarray(end + 4 + size))])
}

/** The event that carries a result or an error: the only one that matters here. */
function answerIn (events: string): string {
  const data = events.split('\n').filter(line => line.startsWith('data:')).map(line => line.slice(5).trim())
  return data.find(text => /"(result|error)":/.test(text)) ?? ''
}
