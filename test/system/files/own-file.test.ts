import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { describeForeignWriters, describeProject } from '../../../system/files/own-file.js'
import { folder } from '../../support/process.js'

const USER = process.getuid?.()

t.test('a file is its user\'s own if nobody else can write it', { skip: USER === undefined && 'Windows' }, async t => {
  const place = await folder(t, { a: '', b: '', link: '' })
  const [a, b] = [join(place, 'a'), join(place, 'b')]
  await chmod(a, 0o600)
  t.equal(describeForeignWriters(a), undefined)
  await chmod(a, 0o644)
  t.equal(describeForeignWriters(a), undefined)
  for (const mode of [0o664, 0o646]) {
    await chmod(a, mode)
    t.equal(describeForeignWriters(a), `${a} can be written by other users; run chmod go-w on it`)
    await symlink(a, join(place, `to-${mode}`))
    t.match(describeForeignWriters(join(place, `to-${mode}`)), `${a} can be written`, 'the file behind a link counts')
  }
  await chmod(b, 0o600)
  await chmod(place, 0o777)
  t.match(describeForeignWriters(b), /^the folder of .*b can be written by other users; run chmod go-w on it, or move/)
  await chmod(place, 0o1777)
  t.equal(describeForeignWriters(b), undefined, 'nobody can replace a file of another user there')
})

t.test('a file of another user is not, unless it is root\'s', { skip: USER !== 0 && 'needs root' }, async t => {
  const place = await folder(t, { a: '' })
  const a = join(place, 'a')
  await chmod(a, 0o600)
  t.equal(describeForeignWriters(a, 1234), undefined, 'the user trusts root')
  await chown(a, 1234, 1234)
  t.match(describeForeignWriters(a), `${a} belongs to another user`)
})

t.test('what may have come with a project is told from what the user wrote', async t => {
  const home = await folder(t, { 'servers.json': '', '.mcp.json': '' })
  for (const path of ['.config/client', '.cursor', 'app', 'app/.vscode', 'app/.x/y', 'repo/.git', 'repo/deep/er']) {
    await mkdir(join(home, path), { recursive: true })
  }
  const write = async (path: string): Promise<string> => {
    await writeFile(join(home, path), '')
    return join(home, path)
  }
  for (const path of ['servers.json', '.config/client/mcp.json', '.cursor/mcp.json', 'app/mcp.json']) {
    t.equal(describeProject(await write(path), home), undefined, path)
  }
  for (const [path, why] of [
    ['.mcp.json', /\.mcp\.json is the file of a project$/],
    ['app/.vscode/mcp.json', /is in .*app\/\.vscode, where clients keep the settings of a project$/],
    ['app/.x/y/mcp.json', /is in .*app\/\.x, where clients keep/],
    ['repo/mcp.json', /is part of the project .*repo, which has a \.git$/],
    ['repo/deep/er/mcp.json', /is part of the project .*repo, which has a \.git$/]
  ] as Array<[string, RegExp]>) t.match(describeProject(await write(path), home), why, path)
})
