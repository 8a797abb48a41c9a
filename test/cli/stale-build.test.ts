import { spawn } from 'node:child_process'
import { cp, mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import { staleBuildWarning } from '../../cli/stale-build.js'
import { folder, Launched, type Ended } from '../support/process.js'

t.test('a bundle that is older than a tool of its checkout is named with what to run', async t => {
  const root = await folder(t, {})
  for (const name of ['dist', 'tools']) await mkdir(join(root, name))
  const [entry, source] = [join(root, 'dist/app.js'), join(root, 'tools/hello.ts')]
  await writeFile(entry, '')
  t.equal(staleBuildWarning([], pathToFileURL(entry).href), undefined, 'an installed package has no sources')
  await writeFile(source, '')
  await utimes(source, 10, 10)
  t.equal(staleBuildWarning([], pathToFileURL(entry).href), undefined, 'the bundle is newer')
  await utimes(entry, 5, 5)
  t.match(staleBuildWarning([], pathToFileURL(entry).href), /\/tools\/hello\.ts is newer than dist\/.*npm run build/)
})

t.test(
  'a bundle with a tool whose source was deleted is named with what to run, after the start is said, and so is the name it takes',
  async t => {
    const root = await folder(t, {
      'mine.mjs':
        'import { tool } from "mcp-patchbay"\nexport default tool({ name: "calculate", description: "", run: () => "" })'
    })
    for (const name of ['package.json', 'tools', 'dist']) {
      await cp(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), join(root, name), { recursive: true })
    }
    await rm(join(root, 'tools/calculate.ts'))
    const run = async (args: string[]): Promise<Ended> => {
      const launched = new Launched(
        spawn(process.execPath, [join(root, 'dist/cli.js'), '--stdio', '--ephemeral', ...args], {
          cwd: root,
          env: { PATH: process.env['PATH'] }
        })
      )
      launched.end()
      return await launched.exit()
    }
    t.match(await run([]), {
      code: 0,
      stderr: /patchbay \d\S* is up: [^]*dist\/ has tools\/calculate, whose source was deleted: npm run build/m
    })
    t.match(await run(['--plugin', 'mine.mjs']), {
      code: 1,
      stderr: /there is a tool "calculate" in \/.*\/tools\/calculate\.ts, which was deleted: run npm run build\n$/
    })
  }
)
