import { replyTo, type Asked } from './reply.js'

// The limit for stdio: lines are split, parsed and answered, each with a write of its own or, with the argument
// "batch", those of one read with one write.
const batch = process.argv[2] === 'batch'
let rest: Buffer[] = []
let out = ''

process.stdin.on('data', (chunk: Buffer) => {
  let start = 0
  for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
    answer(
      rest.length === 0
        ? chunk.toString('utf8', start, end)
        : String(Buffer.concat([...rest, chunk.subarray(start, end)]))
    )
    rest = []
    start = end + 1
  }
  if (start < chunk.length) rest.push(chunk.subarray(start))
  flush()
})

function answer (line: string): void {
  const reply = replyTo(JSON.parse(line) as Asked)
  if (reply === undefined) return
  out += `${JSON.stringify(reply)}\n`
  if (!batch) flush()
}

function flush (): void {
  if (out !== '') process.stdout.write(out)
  out = ''
}
