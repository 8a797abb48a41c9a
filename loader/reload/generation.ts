const QUERY = /[?&]patchbay=\d+$/

/** The folders and files of this package that are the gateway itself, of which there may be one version only. */
const GATEWAY =
  /^(?:dist|build|protocol|plugins|routes|stores|transports|system|lib|loader|options|cli|upstreams)\/|^(?:app|cli|gateway|http-server|options|version)\.ts$/

/** The URL under which a file is loaded that has changed this often. */
export function withGeneration (url: string, generation: number): string {
  return generation === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}patchbay=${generation}`
}

export const withoutGeneration = (url: string): string => url.replace(QUERY, '')

/** True for the files of authors: not for packages, and not for the gateway itself. */
export function isReloadable (url: string, entry: string): boolean {
  const root = new URL('../', entry).href
  return (
    url.startsWith('file:') &&
    !url.includes('/node_modules/') &&
    !(url.startsWith(root) && GATEWAY.test(url.slice(root.length)))
  )
}

/** True where our own sources import what the package exports, too: the gateway that runs has it already. */
export function isExported (specifier: string, importer: string, entry: string): boolean {
  return (
    /^@sinclair\/typebox$|\/protocol\/definitions\/(?:tool|resource|prompt)\.js$/.test(specifier) &&
    importer.startsWith(new URL('../', entry).href) &&
    /\.ts$/.test(importer)
  )
}
