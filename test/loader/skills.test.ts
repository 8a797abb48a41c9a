import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { build } from '../../app.js'
import { findSkills } from '../../loader/find-skills.js'
import { folder } from '../support/process.js'
import { until } from '../support/wait.js'

const write = (root: string, ...names: string[]): void => {
  mkdirSync(join(root, ...names), { recursive: true })
  writeFileSync(join(root, ...names, 'SKILL.md'), `---\nname: ${names.at(-1)}\ndescription: Is found.\n---\n`)
}

t.test('a path names a skill, a folder of them, or one that has a folder of them', async t => {
  const root = await folder(t, { 'tool.mjs': '' })
  write(root, 'skills', 'a')
  write(root, 'skills', 'group', 'b')
  write(root, 'skills', 'group', 'b', 'inner')
  write(root, 'c')
  write(root, 'skills', '.hidden')
  write(root, 'skills', 'node_modules')
  const namesAt = (...names: string[]): string[] =>
    findSkills(join(root, ...names)).skills.map(({ names }) => names.join('/')).sort()
  t.strictSame(namesAt(), ['a', 'c', 'group/b', 'group/b/inner'])
  t.strictSame(namesAt('skills'), ['a', 'group/b', 'group/b/inner'])
  t.strictSame(namesAt('c'), ['c'])
  t.strictSame(namesAt('c', 'SKILL.md'), ['c'])
  t.strictSame(namesAt('skills', '*', 'SKILL.md'), ['a'])
  t.strictSame(namesAt('none'), [])
})

t.test('a SKILL.md that is not there keeps the gateway from starting, with its path', async t => {
  const root = await folder(t, {})
  await t.rejects(build({ plugins: [join(root, 'x', 'SKILL.md')], ephemeral: true, http: false }), /plugin \/.*\/x\/SKILL\.md: there is no such file/)
})

t.test('with reload, skills come and go while the gateway runs', async t => {
  const root = await folder(t, {})
  write(root, 'skills', 'a')
  const app = await build({ plugins: [root], tools: false, reload: true, ephemeral: true, http: false })
  t.teardown(async () => await app.close())
  await app.ready()
  t.strictSame(app.mcp.skills.uris(), ['skill://a/SKILL.md'])
  write(root, 'skills', 'b')
  await until(() => app.mcp.skills.uris().length === 2, 'the new skill')
  writeFileSync(join(root, 'skills', 'a', 'SKILL.md'), '---\nname: a\ndescription: Is another.\n---\n')
  await until(() => app.mcp.resources.get('skill://a/SKILL.md')?.listed.description === 'Is another.', 'the change')
  rmSync(join(root, 'skills', 'a'), { recursive: true })
  await until(() => app.mcp.skills.uris().join() === 'skill://b/SKILL.md', 'the end of the other')
})
