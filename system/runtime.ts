/** What this process takes and runs on. */
export function runtime (): { node: string, memory: { rss: number, heapUsed: number } } {
  const { rss, heapUsed } = process.memoryUsage()
  return { node: process.versions.node, memory: { rss, heapUsed } }
}
