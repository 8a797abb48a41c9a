import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { closed, encode, hello, initialized, type Transport } from './transport.js'

/** Standard input and output. There is one client of them. */
export const stdio: Transport = {
  depth: 64,
  open: async ({ pipes: { stdin, stdout } }, ledger) => {
    const lines = createInterface({ input: stdout })
    const initializeAnswered = once(lines, 'line')
    stdin.write(`${hello('2025-11-25')}\n`)
    await initializeAnswered
    stdin.write(`${initialized}\n`)
    lines.on('line', line => ledger.receive(line))
    return {
      ledger,
      over: closed(stdout),
      send: (id, { method, params }) => { stdin.write(`${encode(id, method, params)}\n`) },
      cut: () => { stdin.destroy() },
      close: async () => { stdin.end() }
    }
  }
}
