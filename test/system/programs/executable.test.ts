import { mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { isExecutable, isFolder, lookUp } from '../../../system/programs/executable.js'
import { folder } from '../../support/process.js'
import { scripts } from '../../support/environment/scripts.js'

t.test('a program is a file that may be executed', async t => {
  const path = await scripts(t, { it: '' })
  const other = await folder(t, { it: '' })
  t.strictSame(
    [
      isExecutable(join(path, 'it')),
      isExecutable(path),
      isExecutable(join(other, 'it')),
      isExecutable(join(path, 'none'))
    ],
    [true, false, false, false]
  )
  t.strictSame([isFolder(path), isFolder(join(path, 'it')), isFolder(join(path, 'none'))], [true, false, false])
})

t.test('the first one on the PATH is found, and only in folders that the PATH gives absolutely', async t => {
  const text = await folder(t, { it: '' })
  const one = await scripts(t, { it: '' })
  const two = await scripts(t, { it: '', other: '' })
  await mkdir(join(one, 'other'))
  const path = ['', '.', text, one, two].join(delimiter)
  t.equal(lookUp('it', path), join(one, 'it'))
  t.equal(lookUp('other', path), join(two, 'other'))
  t.equal(lookUp('none', path), undefined)
  t.ok(lookUp('sh')?.endsWith('/sh'))
})
