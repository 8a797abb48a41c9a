import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { staleBuildWarning } from '../../cli/stale-build.js'
import { folder } from '../support/process.js'

t.test('a bundle that is older than a tool of its checkout is named with what to run', async t => {
  const root = await folder(t, {})
  for (const name of ['dist', 'tools']) await mkdir(join(root, name))
  const [entry, source] = [join(root, 'dist/app.js'), join(root, 'tools/hello.ts')]
  await writeFile(entry, '')
  t.equal(staleBuildWarning(pathToFileURL(entry).href), undefined, 'an installed package has no sources')
  await writeFile(source, '')
  await utimes(source, 10, 10)
  t.equal(staleBuildWarning(pathToFileURL(entry).href), undefined, 'the bundle is newer')
  await utimes(entry, 5, 5)
  t.match(staleBuildWarning(pathToFileURL(entry).href), /\/tools\/hello\.ts is newer than dist\/.*npm run build/)
})
