import { readdir } from 'node:fs/promises'

const FOLDERS = ['../tools/', '../resources/', '../prompts/']

/**
 * Every module of our own folders, so that a file that is added there is served. The bundler replaces this by a list.
 */
export async function builtIns (): Promise<Array<[url: URL, module: object]>> {
  const urls = await Promise.all(FOLDERS.map(async name => await modulesIn(new URL(name, import.meta.url))))
  return await Promise.all(urls.flat().map(async url => [url, await import(url.href) as object]))
}

async function modulesIn (folder: URL): Promise<URL[]> {
  const files = await readdir(folder)
  return files.filter(name => name.endsWith('.js')).sort().map(name => new URL(name, folder))
}
