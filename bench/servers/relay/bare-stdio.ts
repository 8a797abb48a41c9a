import { spawn } from 'node:child_process'
import { Lines, Renamed } from './lines.js'

// The limit for a relay over stdio: splits lines, renames the ids of requests and names them back in responses. What is
// read together is written together.
const server = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] })
const pending = new Renamed<number | string>()

const requests = new Lines(line => {
  const message = JSON.parse(line) as { id?: number | string }
  if (message.id !== undefined) message.id = pending.add(message.id)
  return JSON.stringify(message)
}, text => server.stdin.write(text))

const responses = new Lines(line => {
  const message = JSON.parse(line) as { id: number | string }
  const id = pending.take(Number(message.id))
  if (id !== undefined) message.id = id
  return JSON.stringify(message)
}, text => process.stdout.write(text))

process.stdin.on('data', (chunk: Buffer) => requests.push(chunk)).on('end', () => server.stdin.end())
server.stdout.on('data', (chunk: Buffer) => responses.push(chunk))
