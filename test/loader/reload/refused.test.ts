import t from 'tap'
import { toolSource, watchedFolder } from '../../support/watched-folder.js'

const TAKEN = /a\.ts cannot be loaded, so its former code stays: there is a tool "y" in .*b\.ts already/

t.test('a tool moves to another file, which is saved before the former file is deleted', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('y', '1') }, ['.'])
  folder.save('a.ts', toolSource('y', '2'))
  await folder.logged(TAKEN)
  folder.remove('b.ts')
  await folder.logged(/a\.ts was loaded: y/)
  t.strictSame(folder.app.mcp.tools.names(), ['y'])
  t.equal(await folder.call('y'), '2')
})

t.test('a file gets its name when the other file gives its tool another one', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('y', '1') }, ['.'])
  folder.save('a.ts', toolSource('y', '2'))
  await folder.logged(TAKEN)
  folder.save('b.ts', toolSource('z', '2'))
  await folder.logged(/a\.ts was loaded: y/)
  t.strictSame(folder.app.mcp.tools.names().sort(), ['y', 'z'])
  t.strictSame([await folder.call('y'), await folder.call('z')], ['2', '2'])
})

t.test('two files swap names, one saved after the other', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('y', '1') }, ['.'])
  folder.save('a.ts', toolSource('y', '"a"'))
  await folder.logged(TAKEN)
  folder.save('b.ts', toolSource('x', '"b"'))
  await folder.logged(/was loaded/)
  await folder.logged(/was loaded/)
  t.strictSame([await folder.call('x'), await folder.call('y')], ['b', 'a'])
})

t.test('a name stays with the file that has it, and the same refusal is logged once', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('y', '1') }, ['.'])
  folder.save('a.ts', toolSource('y', '"a"'))
  await folder.logged(TAKEN)
  for (const value of ['2', '3']) {
    folder.save('b.ts', toolSource('y', value))
    await folder.logged(/b\.ts was loaded: y/)
    t.strictSame([await folder.call('x'), await folder.call('y')], ['1', value])
  }
  t.equal(folder.log.filter(line => TAKEN.test(line)).length, 1)
  folder.save('a.ts', toolSource('y', '"again"'))
  await folder.logged(TAKEN)
  t.equal(folder.log.filter(line => TAKEN.test(line)).length, 2, 'after it was saved, once more')
})

t.test('of two new files with one name, the first is served; the other when the first is gone', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1'), 'b.ts': toolSource('x', '2') }, ['.'])
  await folder.logged(
    /b\.ts cannot be loaded; it is left out until it is mended: there is a tool "x" in .*a\.ts already/
  )
  folder.remove('a.ts')
  await folder.logged(/b\.ts was loaded: x/)
  t.equal(await folder.call('x'), '2')
})

t.test('a new file that never had a good version is left out until it is mended', async t => {
  const folder = await watchedFolder(t, { 'a.ts': toolSource('x', '1') }, ['.'])
  folder.write('b.ts', 'export default tool({')
  await folder.logged(/b\.ts cannot be loaded; it is left out until it is mended: .*line 1/)
  folder.save('b.ts', toolSource('y', '1'))
  await folder.logged(/b\.ts was loaded: y/)
})
