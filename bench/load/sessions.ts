import { HttpWire } from './http-wire.js'
import { INITIALIZE, INITIALIZED, LEGACY } from './messages.js'
import { ask, exchange } from './wire.js'

const WIDTH = 32

/** Opens so many HTTP sessions, on request to the end of the handshake, and gives their ids. */
export async function openSessions (port: number, count: number, { confirm = false } = {}): Promise<string[]> {
  const sessions: string[] = []
  await eachOf(count, async () => {
    const wire = await HttpWire.open(port, LEGACY)
    return {
      work: async () => {
        wire.session = undefined
        await ask(wire, INITIALIZE)
        if (confirm) await wire.notify(INITIALIZED)
        sessions.push(wire.session ?? '')
      },
      done: () => wire.close()
    }
  })
  if (sessions.includes('')) throw new Error('a session was opened without an id')
  return sessions
}

export async function endSessions (port: number, sessions: string[]): Promise<void> {
  await eachOf(sessions.length, async () => {
    const wire = await HttpWire.open(port, LEGACY)
    return {
      work: async index => {
        await exchange(wire, wire.farewell(sessions[index] as string))
      },
      done: () => wire.close()
    }
  })
}

/** Does something so many times, by several who each do one after the other. */
export async function eachOf (
  count: number,
  hire: () => Promise<{ work: (index: number) => Promise<void>, done?: () => void }>
): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(WIDTH, count) }, async () => {
      const { work, done } = await hire()
      try {
        while (next < count) await work(next++)
      } finally {
        done?.()
      }
    })
  )
}
