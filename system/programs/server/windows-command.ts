/** What the shell of Windows gives a meaning. */
const SPECIAL = /[()\][%!^"`<>&|;, *?]/g

/** How Node.js starts a program on Windows: scripts such as npx.cmd run in the shell only, with arguments that it must not interpret. */
export function windowsCommand (path: string, args: readonly string[], shell = 'cmd.exe'): { path: string, args: string[], windowsVerbatimArguments: boolean } {
  if (!/\.(cmd|bat)$/i.test(path)) return { path, args: [...args], windowsVerbatimArguments: false }
  // The scripts that npm makes pass their arguments through the shell once more.
  const times = /[\\/](node_modules[\\/]\.bin|nodejs|npm)[\\/][^\\/]+$/i.test(path) ? 2 : 1
  const line = [escapeSpecial(path), ...args.map(arg => escapeArgument(arg, times))].join(' ')
  return { path: shell, args: ['/d', '/s', '/c', `"${line}"`], windowsVerbatimArguments: true }
}

// A program of Windows takes its one command line apart itself: backslashes before a quotation mark are doubled.
function escapeArgument (arg: string, times: number): string {
  let escaped = `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`
  for (let time = 0; time < times; time++) escaped = escapeSpecial(escaped)
  return escaped
}

const escapeSpecial = (text: string): string => text.replace(SPECIAL, '^$&')
