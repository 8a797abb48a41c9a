import { GCProfiler } from 'node:v8'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../app.js'

declare const gc: (options: { type: 'minor' }) => void

/** Less than that was not collected because memory was full, but on request. */
const FULL = 1_000_000

/** Tools that report how much of the memory used by calls is still in use after a collection. Need `--expose-gc`. */
export default async function trails (fastify: FastifyInstance): Promise<void> {
  const profiler = new GCProfiler()
  let release: Array<() => void> = []

  fastify.mcp.tools.add(
    tool({
      name: 'later',
      description: 'Answers a moment later',
      input: Type.Object({ text: Type.String() }),
      run: async ({ text }) => text
    })
  )
  fastify.mcp.tools.add(
    tool({
      name: 'hold',
      description: 'Answers when `age` is called',
      run: async () =>
        await new Promise<void>(resolve => {
          release.push(resolve)
        })
    })
  )
  fastify.mcp.tools.add(tool({
    name: 'age',
    description: 'Makes everything old that is in use now, and lets go whom it held',
    run: () => {
      const held = release
      release = []
      for (let times = 0; times < 3; times++) gc({ type: 'minor' })
      for (const resolve of held) resolve()
      return String(held.length)
    }
  }))
  fastify.mcp.tools.add(tool({ name: 'start', description: 'Begins to look', run: () => profiler.start() }))
  fastify.mcp.tools.add(
    tool({ name: 'stop', description: 'Tells what was seen since', run: () => JSON.stringify(summary(profiler)) })
  )
}

/** How often memory was full, how many bytes were in use then, and how many of them afterwards. */
export interface Trail { collections: number, used: number, survived: number }

function summary (profiler: GCProfiler): Trail {
  const full = profiler
    .stop()
    .statistics.filter(({ gcType, beforeGC }) => gcType === 'Scavenge' && young(beforeGC) > FULL)
  return {
    collections: full.length,
    used: full.reduce((sum, { beforeGC }) => sum + young(beforeGC), 0),
    survived: full.reduce((sum, { afterGC }) => sum + young(afterGC), 0)
  }
}

const young = ({
  heapSpaceStatistics
}: {
  heapSpaceStatistics: Array<{ spaceName: string, spaceUsedSize: number }>
}): number => heapSpaceStatistics.find(({ spaceName }) => spaceName === 'new_space')?.spaceUsedSize ?? 0
