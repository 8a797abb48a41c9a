/** The oldest Node.js that runs Patchbay, as in package.json. */
const OLDEST = [20, 19] as const

/** Throws a sentence if this version of Node.js is too old. */
export function checkNode (version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return
  throw new Error(`this is Node.js ${version}, and Patchbay needs ${OLDEST.join('.')} or newer`)
}
