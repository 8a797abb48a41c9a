const kills = new Set<() => void>()
const killAll = () => kills.forEach(kill => kill())

/** Runs `kill` when this process exits. Returns how to remove it. */
export function killAtExit (kill: () => void): () => void {
  if (kills.size === 0) process.on('exit', killAll)
  kills.add(kill)
  return () => {
    kills.delete(kill)
    if (kills.size === 0) process.off('exit', killAll)
  }
}
