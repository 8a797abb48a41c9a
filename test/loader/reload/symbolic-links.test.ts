import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { toolSource, watchedFolder, type WatchedFolder } from '../../support/watched-folder.js'

/** Lets a link lead elsewhere in one step, as a deployment does. */
function repoint ({ root }: Pick<WatchedFolder, 'root'>, link: string, target: string): void {
  symlinkSync(join(root, target), join(root, `${link}.next`))
  renameSync(join(root, `${link}.next`), join(root, link))
}

t.test(
  'a file that is a link, or in a folder that is one, is loaded from where the link leads, and watched there',
  async t => {
    for (const [link, first, second] of [
      ['link.ts', 'one/a.ts', 'two/a.ts'],
      ['current', 'one', 'two']
    ] as const) {
      const folder = await watchedFolder(
        t,
        { 'tools/b.ts': toolSource('b', '1'), 'one/a.ts': toolSource('a', '1'), 'two/a.ts': toolSource('a', '2') },
        ['tools', link],
        {},
        root => repoint({ root }, link, first)
      )
      t.equal(await folder.call('a'), '1')
      repoint(folder, link, second)
      await folder.logged(/was loaded: a/)
      t.equal(await folder.call('a'), '2')
      folder.save('two/a.ts', toolSource('a', '3'))
      await folder.logged(/was loaded: a/)
      t.equal(await folder.call('a'), '3')
      repoint(folder, link, first)
      await folder.logged(/was loaded: a/)
      t.equal(await folder.call('a'), '1')
    }
  }
)
