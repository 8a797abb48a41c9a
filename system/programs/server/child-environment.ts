import type { Environment } from '../../environment.js'

const UNIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR', 'TZ']
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR'
]
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']
const PREFIXES = /^(LC|XDG)_/
const PROXIES = /^(https?|all|no)_proxy$/i

/**
 * The variables of this process that another program may see: those that it needs to run, and none that hold secrets.
 * Those of proxies may hold passwords.
 */
export function childEnvironment (
  proxies = false,
  own: Environment = process.env,
  platform: string = process.platform
): Environment {
  const names = new Set([...(platform === 'win32' ? WINDOWS : UNIX), ...CERTIFICATES])
  const isAllowed = (name: string) =>
    names.has(platform === 'win32' ? name.toUpperCase() : name) ||
    PREFIXES.test(name) ||
    (proxies && PROXIES.test(name))
  // A value that begins with () is a function that a shell has exported.
  return Object.fromEntries(
    Object.entries(own).filter(([name, value]) => isAllowed(name) && value !== undefined && !value.startsWith('()'))
  )
}
