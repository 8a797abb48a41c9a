/** Shorter values are no secrets, and hiding them would spoil other words. */
const SHORTEST = 6

/** A function that replaces the values of these variables in a text: a server may print its own configuration, with its credentials. */
export function hideValues (env: Readonly<Record<string, string>>): (text: string) => string {
  const hidden = Object.entries(env).filter(([, value]) => value.length >= SHORTEST).sort(([, a], [, b]) => b.length - a.length)
  return text => hidden.reduce((shown, [name, value]) => shown.replaceAll(value, `<${name}>`), text)
}
